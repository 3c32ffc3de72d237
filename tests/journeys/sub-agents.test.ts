import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { begin, eventsOf, observations, ofKind, openHouse, rest, runs, says, until } from '../tools/house.ts'

/* Agents that work for another one: side by side, within its budget and its policies, and stopped with it. */

const delegates = (...tasks: { task: string; title?: string; agent?: string }[]) => ({
  tools: [{ name: 'delegate', args: { tasks } }],
})
const meets = (mine: string, other: string) =>
  runs(`touch ${mine}; i=0; until [ -e ${other} ] || [ $i -gt 500 ]; do sleep 0.02; i=$((i+1)); done; ls ${other}`)
/** Of a command that does not end by itself; nothing else on this machine sleeps so long. */
const long = '86398.271'

const house = await openHouse({
  scripts: {
    two: {
      turns: [
        delegates(
          { task: '[[script:left]] Left part.', title: 'Left' },
          { task: '[[script:right]] Right part.', title: 'Right' },
        ),
        { text: 'Both are done.' },
      ],
    },
    left: { turns: [meets('l', 'r'), { text: 'The left part is done.' }] },
    right: { turns: [meets('r', 'l'), { tools: [{ name: 'finish', args: { message: 'The right part is done.' } }] }] },
    stopped: { turns: [delegates({ task: '[[script:endless]] Go on and on.' })] },
    endless: { turns: [runs(`echo begun; sleep ${long}`)] },
    asked: { turns: [delegates({ task: '[[script:careful]] Carefully.' }), { text: 'Done.' }] },
    careful: { turns: [runs('echo confirmed'), { text: 'It was confirmed.' }] },
    deep: { turns: [delegates({ task: '[[script:deeper]] Down.' }), { text: 'Up again.' }] },
    deeper: { turns: [delegates({ task: '[[script:deepest]] Look.', agent: 'explorer' }), { text: 'Back.' }] },
    deepest: { turns: [{ tools: [{ name: 'glob', args: { pattern: '*' } }] }, { text: 'I looked.' }] },
  },
})
after(() => house[Symbol.asyncDispose]())
const { ada, llm } = house

const children = async (id: string): Promise<string[]> =>
  (await ada.conversations.get({ params: { id } })).sub_conversation_ids
const waiting = (id: string) =>
  until('it waits for a confirmation', 20_000, async () => {
    const { execution_status } = await ada.conversations.get({ params: { id } })
    return execution_status === 'waiting_for_confirmation'
  })
const toolsOf = (body: string): string[] =>
  (JSON.parse(body) as { tools: { function: { name: string } }[] }).tools.map((tool) => tool.function.name)

test('two sub-agents work side by side in one workspace, and their last words are the result', async () => {
  await ada.settings.update({ body: { max_budget_per_task: 8 } })
  const id = await begin(ada, says('[[script:two]] Go.'))
  const { status, events } = await rest(ada, id)
  assert.equal(status, 'finished')
  const [result = ''] = observations(events)
  assert.match(
    result,
    /## Left \(finished\)\nThe left part is done\.\n\n## Right \(finished\)\nThe right part is done\./,
  )
  const ids = await children(id)
  assert.equal(ids.length, 2)
  for (const child of ids) {
    const { title, parent_conversation_id, metrics, execution_status } = await ada.conversations.get({
      params: { id: child },
    })
    assert.ok(title === 'Left' || title === 'Right')
    assert.deepEqual([parent_conversation_id, execution_status], [id, 'finished'])
    assert.equal(metrics?.max_budget_per_task, 4, 'half of the budget each')
    const [message] = ofKind(await eventsOf(ada, child), 'MessageEvent')
    assert.equal(message?.['sender'], 'agent')
    assert.match(observations(await eventsOf(ada, child))[0] ?? '', /exit code 0/, 'each saw the other')
  }
  const spent = ofKind(events, 'LLMCallEvent').map((event) => String(event['usage_id']))
  assert.deepEqual(spent.toSorted(), ['default', 'default', ...ids.map((child) => `delegate:${child}`)].toSorted())
  const { items } = await ada.conversations.search({})
  assert.ok(!items.some((one) => ids.includes(one.id)), 'they are no conversations of the list')
  await ada.settings.update({ body: { max_budget_per_task: null } })
})

test('an interrupt stops the sub-agents too, with what they had begun', async () => {
  const id = await begin(ada, says('[[script:stopped]] Go.'))
  const child = await until('the sub-agent is at work', 20_000, async () => {
    const [one] = await children(id)
    if (one === undefined) return undefined
    return ofKind(await eventsOf(ada, one), 'ActionEvent').length > 0 ? one : undefined
  })
  await ada.conversations.interrupt({ params: { id } })
  assert.equal((await rest(ada, id)).status, 'paused')
  const { status, events } = await rest(ada, child)
  assert.equal(status, 'paused')
  assert.equal(ofKind(events, 'InterruptEvent').length, 1)
  const [result = ''] = observations(await eventsOf(ada, id))
  assert.match(result, /\(paused: the user stopped it\)/)
})

test('a sub-agent asks for confirmation where its parent would, and the parent says that it waits', async () => {
  await ada.settings.update({ body: { confirmation_mode: true } })
  const id = await begin(ada, says('[[script:asked]] Go.'))
  await waiting(id)
  await ada.events.respondToConfirmation({ params: { id }, body: { accept: true } })
  const child = await until('the sub-agent is there', 20_000, async () => (await children(id))[0])
  await waiting(child)
  const notice = await until('the parent says so', 20_000, async () =>
    ofKind(await eventsOf(ada, id), 'NoticeEvent').find((event) => event['code'] === 'sub_agent_waits'),
  )
  assert.match(String(notice['detail']), new RegExp(child))
  await ada.events.respondToConfirmation({ params: { id: child }, body: { accept: true } })
  const done = await until('the parent is done', 20_000, async () => {
    const { execution_status } = await ada.conversations.get({ params: { id } })
    return execution_status === 'finished'
  })
  assert.ok(done)
  assert.match(observations(await eventsOf(ada, id)).join(), /It was confirmed\./)
  await ada.settings.update({ body: { confirmation_mode: false } })
})

test('a sub-agent may have sub-agents, those have none; an explorer has only what reads', async () => {
  await llm.clear()
  const id = await begin(ada, says('[[script:deep]] Go.'))
  assert.equal((await rest(ada, id)).status, 'finished')
  const { requests } = await llm.log()
  const tools = new Map<string, string[]>()
  for (const { n } of requests) {
    const body = await llm.body(n)
    tools.set(/\[\[script:(\w+)/.exec(body)?.[1] ?? '', toolsOf(body))
  }
  assert.deepEqual(
    ['deep', 'deeper', 'deepest'].map((one) => tools.get(one)?.includes('delegate')),
    [true, true, false],
  )
  assert.deepEqual(tools.get('deepest'), ['glob', 'grep', 'file_viewer', 'think', 'finish'])
  const [child = ''] = await children(id)
  assert.match(observations(await eventsOf(ada, child)).join(), /I looked\./)
})

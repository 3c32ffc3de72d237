import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ExecutionStatus } from '@parley/contract/execution'
import { type Clock, systemClock } from '@parley/store/clock'
import { begin, eventsOf, llmKey, ofKind, openHouse, rest, runs, say, says } from '../tools/house.ts'

/*
 * Models that fail. Every case says how often the model is called and where the conversation ends; whatever it was, the next
 * message works. Waits are real but the clock runs fast.
 */

const factor = 40
const begun = Date.now()
const millis = () => begun + (Date.now() - begun) * factor
const fastClock: Clock = {
  millis,
  now: () => new Date(millis()).toISOString(),
  id: systemClock.id,
  sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
}

const ok = { text: 'Here it is.' }
interface Case {
  name: string
  fault: object | object[]
  calls: number
  ends: ExecutionStatus
  /** Of the event that tells the user. */
  says?: RegExp
}

const cases: Record<string, Case> = {
  key: {
    name: 'refuses the key',
    fault: { type: 'status', status: 401, message: 'invalid api key', times: 1 },
    calls: 1,
    ends: 'error',
    says: /key/i,
  },
  limit: {
    name: 'asks for patience three times',
    fault: { type: 'status', status: 429, retryAfter: 1, message: 'slow down', times: 3 },
    calls: 4,
    ends: 'finished',
  },
  quota: {
    name: 'has no quota left',
    fault: {
      type: 'status',
      status: 429,
      code: 'insufficient_quota',
      message: 'You exceeded your current quota',
      times: 1,
    },
    calls: 1,
    ends: 'error',
    says: /quota/i,
  },
  broken: {
    name: 'fails twice',
    fault: { type: 'status', status: 500, message: 'oops', times: 2 },
    calls: 3,
    ends: 'finished',
  },
  down: {
    name: 'fails for ever',
    fault: { type: 'status', status: 503, message: 'away', times: 5 },
    calls: 5,
    ends: 'error',
  },
  half: {
    name: 'stops in the middle of a stream',
    fault: { type: 'truncate', afterChunks: 1 },
    calls: 2,
    ends: 'finished',
  },
  cut: { name: 'breaks the connection', fault: { type: 'disconnect', afterChunks: 1 }, calls: 2, ends: 'finished' },
  garbage: { name: 'sends what is not JSON', fault: { type: 'malformed', afterChunks: 1 }, calls: 2, ends: 'finished' },
  silent: { name: 'falls silent', fault: { type: 'stall', afterChunks: 1, ms: 600_000 }, calls: 2, ends: 'finished' },
  inner: {
    name: 'sends an error within the stream',
    fault: { type: 'stream-error', afterChunks: 1 },
    calls: 2,
    ends: 'finished',
  },
}

const house = await openHouse({
  clock: fastClock,
  scripts: {
    ...Object.fromEntries(Object.entries(cases).map(([name, { fault }]) => [name, { turns: [{ ...ok, fault }] }])),
    args: { turns: [{ ...runs('echo cut'), fault: { type: 'malformed-args' } }, ok] },
    empty: { turns: [{ ...ok, fault: { type: 'empty', times: 1 } }, ok] },
    well: { turns: [ok] },
  },
})
after(() => house[Symbol.asyncDispose]())
const { ada, llm } = house

async function worksAgain(id: string): Promise<void> {
  const seq = await say(ada, id, '[[script:well]] Once more.')
  const { status, events } = await rest(ada, id, seq)
  assert.equal(status, 'finished')
  assert.match(JSON.stringify(ofKind(events, 'MessageEvent').at(-1)), /Here it is/)
}

const calls = async () => (await llm.log()).requests.length

for (const [script, { name, calls: expected, ends, says: said }] of Object.entries(cases))
  test(`a model that ${name} is called ${expected} times and leaves the conversation ${ends}`, async () => {
    const before = await calls()
    const id = await begin(ada, says(`[[conv:${script}]] [[script:${script}]] Please.`))
    const { status, events } = await rest(ada, id)
    assert.equal(status, ends)
    assert.equal((await calls()) - before, expected)
    const answers = ofKind(events, 'MessageEvent').filter((event) => event.source === 'agent')
    assert.equal(answers.length, ends === 'finished' ? 1 : 0)
    const errors = ofKind(events, 'ConversationErrorEvent')
    assert.equal(errors.length, ends === 'error' ? 1 : 0)
    if (said !== undefined) assert.match(String(errors[0]?.detail), said)
    assert.equal(
      ofKind(events, 'LLMRetryEvent').length,
      ends === 'finished' ? expected - 1 : ofKind(events, 'LLMRetryEvent').length,
    )
    await worksAgain(id)
    assert.ok(!JSON.stringify(await eventsOf(ada, id)).includes(llmKey))
  })

test('a call with arguments that are cut has one result, and the work goes on', async () => {
  const id = await begin(ada, says('[[conv:args]] [[script:args]] Please.'))
  const { status, events } = await rest(ada, id)
  assert.equal(status, 'finished')
  const results = events.filter((event) => ['ObservationEvent', 'AgentErrorEvent'].includes(event.kind))
  assert.equal(results.length, ofKind(events, 'ActionEvent').length)
  await worksAgain(id)
})

test('an empty answer does not end the conversation without a word', async () => {
  const id = await begin(ada, says('[[conv:empty]] [[script:empty]] Please.'))
  const { events } = await rest(ada, id)
  const words = ofKind(events, 'MessageEvent').some((event) => JSON.stringify(event).includes('Here it is'))
  assert.ok(words || ofKind(events, 'ConversationErrorEvent').length === 1)
  await worksAgain(id)
})

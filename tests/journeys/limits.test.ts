import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Parley } from '@parley/client/client'
import { begin, eventsOf, type House, ofKind, openHouse, rest, runs, say, says, until } from '../tools/house.ts'

/* What a sandbox may use and how long it may stay as it is: each bound is told, with its name, to those who work there. */

const folder = mkdtempSync(join(tmpdir(), 'pl-'))
after(() => rmSync(folder, { recursive: true }))

const scripts = {
  memory: { turns: [runs('x=$(head -c 300000000 /dev/zero | tr "\\0" x); echo ${#x}'), { text: 'Done.' }] },
  disk: {
    turns: [
      runs('i=0; while [ $i -lt 400 ]; do i=$((i+1)); head -c 3000000 /dev/zero > $i; sleep 0.1; done'),
      { text: 'Done.' },
    ],
  },
  fork: { turns: [runs('for i in $(seq 200); do sleep 20 & done; wait %1'), { text: 'Done.' }] },
  flood: { turns: [runs('head -c 20000000 /dev/zero | tr "\\0" x; echo; echo the end'), { text: 'Done.' }] },
  small: { turns: [runs('echo kept > kept.txt'), { text: 'Done.' }] },
}

function houseWith(limits: string): Promise<House> {
  const file = join(folder, 'limits.yaml')
  writeFileSync(file, limits)
  return openHouse({ scripts, env: { PARLEY_LIMITS: file } })
}

const notices = async (ada: Parley, id: string, code: string): Promise<string[]> =>
  ofKind(await eventsOf(ada, id), 'NoticeEvent').flatMap((event) => (event.code === code ? [String(event.detail)] : []))

/** Without them what one program wants too much of is refused to it, and nobody hears of that but the program. */
async function hasControlGroups({ server }: House): Promise<boolean> {
  const findings = await server.server.driver.doctor(AbortSignal.timeout(60_000))
  return findings.some(({ check, ok }) => check === 'limit of memory' && ok)
}

test('a command that wants more memory, one that forks without end, and one that fills the disk are stopped with an event that names the limit', async () => {
  await using house = await houseWith('sandbox: { memory: 128MiB, processes: 64, disk: 32MiB }')
  const { ada } = house
  const greedy = await begin(ada, says('[[script:memory]] Go.'))
  const filling = await begin(ada, says('[[script:disk]] Go.'))
  const forking = await begin(ada, says('[[script:fork]] Go.'))
  const other = await begin(ada, says('[[script:small]] Go.'))
  assert.equal((await rest(ada, other)).status, 'finished')
  const told = (id: string, what: RegExp) =>
    until(`${what} is told`, 20_000, async () =>
      (await notices(ada, id, 'sandbox_limit')).find((text) => what.test(text)),
    )
  await told(filling, /disk limit of 32 MiB reached/)
  const counted = await hasControlGroups(house)
  if (counted) {
    await told(greedy, /out of memory: \d+ killed at the limit of 128 MiB/)
    await told(forking, /limit of 64 processes reached/)
  }
  assert.deepEqual(await notices(ada, other, 'sandbox_limit'), [])
  assert.equal((await rest(ada, greedy)).status, 'finished')
  const again = await say(ada, greedy, '[[script:small]] Go on.')
  await rest(ada, greedy, again)
  const { requests } = await house.llm.log()
  const asked = await Promise.all(requests.slice(-3).map(({ n }) => house.llm.body(n)))
  assert.ok(
    !counted || asked.some((body) => body.includes('The sandbox is at a limit: out of memory')),
    'the model is not told',
  )
  for (const id of [greedy, filling, forking, other]) await ada.conversations.delete({ params: { id } })
})

test('of a flood of output the ends are shown, with what is missing, and the whole is in a file', async () => {
  await using house = await houseWith('sandbox: { memory: 512MiB }')
  const { ada } = house
  const id = await begin(ada, says('[[script:flood]] Go.'))
  const { events, status } = await rest(ada, id)
  assert.equal(status, 'finished')
  const [observation] = ofKind(events, 'ObservationEvent')
  const text = JSON.stringify(observation)
  assert.ok(text.length < 200_000, `${text.length} characters of it are in the log`)
  assert.match(text, /the end/)
  assert.match(text, /\/tmp\/\.parley\/shell-\w+\.log/)
})

test('a sandbox is paused when it has run as long as it may and deleted in time, says why, and its files are kept', async () => {
  await using house = await houseWith('sandboxes: { idle_pause: never, run_at_most: 3s, delete_after: 4s }')
  const { ada } = house
  const id = await begin(ada, says('[[script:small]] Go.'))
  await rest(ada, id)
  const status = async () => (await ada.conversations.get({ params: { id } })).sandbox_status
  await until('the sandbox is paused', 40_000, async () => (await status()) === 'PAUSED')
  const { detail } = await ada.conversations.why({ params: { id } })
  assert.match(detail, /Paused for having run as long as a sandbox may/)
  await until('the sandbox is deleted', 20_000, async () => (await status()) === 'MISSING')
  assert.deepEqual(await notices(ada, id, 'sandbox_deleted'), [
    'The sandbox was paused for as long as one is kept, and is deleted.',
  ])
  assert.match((await ada.conversations.why({ params: { id } })).detail, /kept as they were at .* fork/)
  assert.equal(await ada.conversations.readFile({ params: { id }, query: { file_path: 'kept.txt' } }), 'kept\n')
  await assert.rejects(say(ada, id, 'Go on.'), { code: 'gone' })
})

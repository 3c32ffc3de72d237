import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { api } from '@parley/contract/api'
import type { StartTask } from '@parley/contract/start-tasks'
import { begin, openHouse, rest, says, until } from '../tools/house.ts'

/* Starts that hang where they are, all watched at once: others do not wait for them. */

const many = 20

const dir = mkdtempSync(join(tmpdir(), 'pm-'))
after(() => rmSync(dir, { recursive: true, force: true }))
const limits = join(dir, 'limits.yaml')
const often = '{ requests: 1000000 }'
writeFileSync(
  limits,
  `sandboxes: { per_user: 40 }\nrates: { start: ${often}, read: ${often}, write: ${often}, control: ${often} }\n`,
)

test(`${many} streams over starts that hang hold up neither starts, nor runs, nor each other`, async () => {
  await using house = await openHouse({
    scripts: { plain: { turns: [{ text: 'Done.' }] } },
    repositories: { 'acme/slow': { files: { '.parley/setup.sh': 'exec sleep 86399' } } },
    env: { PARLEY_LIMITS: limits },
  })
  const { ada } = house
  const last = new Map<number, StartTask>()
  const watch = async (n: number) => {
    const body = { selected_repository: 'acme/slow', git_provider: 'open_forge' as const }
    for await (const task of await ada.call(api.conversations.streamStart, { body })) last.set(n, task)
  }
  const watched = Promise.all(Array.from({ length: many }, (_, n) => watch(n)))
  await until('all hang in their set-up script', 90_000, () => {
    const statuses = [...last.values()].map(({ status }) => status)
    assert.ok(!statuses.includes('ERROR'), JSON.stringify([...last.values()].find(({ status }) => status === 'ERROR')))
    return statuses.filter((status) => status === 'RUNNING_SETUP_SCRIPT').length === many
  })

  const id = await begin(ada, says('[[script:plain]] Hello.'))
  assert.equal((await rest(ada, id)).status, 'finished')

  for (const { id: task } of last.values()) await ada.startTasks.cancel({ params: { id: task } })
  await watched
  assert.deepEqual(
    [...last.values()].map(({ status, detail }) => [status, detail]),
    Array.from({ length: many }, () => ['ERROR', 'Start cancelled.']),
  )
})

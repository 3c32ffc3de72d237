import { getConversation } from '@parley/contract/conversations'
import { getStartTasks, startConversation } from '@parley/contract/start-tasks'
import type { Hands } from '@parley/sandbox/driver'
import { checkpointsOf } from '@parley/server/conversations/checkpoints/save'
import { checkpointStore } from '@parley/server/conversations/checkpoints/store'
import { defaultLimits } from '@parley/server/limits'
import { openTestServer } from '@parley/server/testing'
import { p50, p95, type Row, timed } from './measure.ts'

const fillScript = `
cd /workspace/project
for folder in $(seq 100); do
  mkdir -p "d$((folder % 10))/e$folder"
  for file in $(seq 100); do echo "file $folder $file" > "d$((folder % 10))/e$folder/f$file.txt"; done
done
git config gc.auto 0; git add -A && git -c user.name=a -c user.email=a@example.com commit -qm "All" && git gc -q`

const changeScript = 'cd /workspace/project && echo "$1" >> "d5/e45/f7.txt"'
/** What git itself takes to find one changed file and name the tree of all. */
const gitScript = 'cd /workspace/project && git add -A && git write-tree'

/** A checkpoint of a repository of 10,000 files: the first, one after a change of one file, and one without a change. */
export async function checkpointRows(): Promise<Row[]> {
  await using test = await openTestServer()
  const { driver, database } = test.server
  const ada = await test.as('ada')
  const { id, sandbox } = await conversation(ada)
  const hands = await driver.hands(sandbox)
  await done(hands, fillScript)
  const checkpoints = checkpointsOf({
    store: checkpointStore(database),
    sandboxes: { usable: async () => true, hands: () => driver.hands(sandbox) },
    limits: defaultLimits(),
    tell: async (_, event) => Promise.reject(new Error(JSON.stringify(event))),
    log: (message, details) => process.stderr.write(`${message} ${JSON.stringify(details)}\n`),
  })
  const first = await timed(1, () => checkpoints.save(id), 0)
  const unchanged = await timed(30, () => checkpoints.save(id))
  const changed: number[] = []
  const git: number[] = []
  for (let index = 0; index < 30; index += 1) {
    await done(hands, changeScript, `${index}`)
    changed.push(...(await timed(1, () => checkpoints.save(id), 0)))
    git.push(...(await timed(1, () => done(hands, gitScript), 0)))
  }
  const row = (what: string, values: number[], goal: string): Row => ({
    what: `checkpoint of 10,000 files, ${what}`,
    unit: 'ms',
    p50: p50(values),
    p95: values.length > 4 ? p95(values) : null,
    floor: p50(git),
    floorIs: 'git add -A, write-tree',
    goal,
  })
  return [row('the first', first, ''), row('one changed', changed, '< 50'), row('none changed', unchanged, '')]
}

async function conversation(ada: Awaited<ReturnType<Awaited<ReturnType<typeof openTestServer>>['as']>>) {
  const task = await ada(startConversation, { body: {} })
  for (;;) {
    const [now] = await ada(getStartTasks, { query: { ids: [task.id] } })
    if (now?.status === 'ERROR') throw new Error(now.detail ?? 'the start failed')
    const id = now?.app_conversation_id
    if (id) return { id, sandbox: (await ada(getConversation, { params: { id } })).sandbox_id ?? '' }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function done(hands: Hands, script: string, ...args: string[]): Promise<void> {
  const { code, stderr } = await hands.run({ script, args })
  if (code !== 0) throw new Error(stderr)
}

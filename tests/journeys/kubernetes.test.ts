import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { observations, rest, runs, say, says, scriptOf, until, useModel } from '../tools/house.ts'
import { type TestingCluster, testingCluster } from '../tools/kubernetes-testing.ts'
import { openProgram } from '../tools/program.ts'
import { openScriptedLlm } from '../tools/scripted-llm.ts'

/*
 * The real program with sandboxes in a real cluster, as the account of deploy/kubernetes: a command runs in a pod, which a stop of
 * the program leaves and a pause ends; the files come back in a new pod; nothing is left of what is deleted.
 */

const testing = testingCluster()
const skip = typeof testing === 'string' ? testing : false
const stack = new AsyncDisposableStack()
after(() => stack.disposeAsync())

async function open(cluster: TestingCluster) {
  const llm = stack.use(
    await openScriptedLlm(
      scriptOf({
        first: { turns: [runs('id -u; pwd; echo kept >kept'), { text: 'Done.' }] },
        second: { turns: [runs('cat kept; echo more >>kept'), { text: 'Done.' }] },
        third: { turns: [runs('cat kept'), { text: 'Done.' }] },
      }),
    ),
  )
  const env = {
    PARLEY_SANDBOX: 'kubernetes',
    KUBECONFIG: cluster.accountKubeconfig,
    PARLEY_KUBERNETES_EGRESS: `${cluster.nodeAddress}:0`,
    PARLEY_KUBERNETES_WAY_IMAGE: cluster.image,
    PARLEY_KUBERNETES_STORAGE_CLASS: cluster.storageClass,
    PARLEY_SANDBOX_IMAGE: cluster.image,
    // This cluster enforces no network policy.
    PARLEY_SANDBOX_DANGEROUSLY_UNISOLATED: 'on',
    PARLEY_PRIVATE_HOSTS: new URL(llm.url).host,
  }
  const { openCluster } = await import('@parley/sandbox/kubernetes/cluster')
  const { core } = openCluster(cluster.kubeconfig, null)
  const { namespace } = cluster
  const named = (items: { metadata?: { name?: string; uid?: string } }[], id: string) =>
    items.filter(({ metadata }) => metadata?.name?.includes(id)).map(({ metadata }) => metadata?.uid ?? '')
  return {
    program: stack.use(await openProgram({ env })),
    llm,
    pods: async (id: string) => named((await core.listNamespacedPod({ namespace })).items, id),
    claims: async (id: string) => named((await core.listNamespacedPersistentVolumeClaim({ namespace })).items, id),
  }
}

test(
  'sandboxes are pods: a stop leaves them, a pause ends them and keeps their files, a deletion leaves nothing',
  { skip },
  async () => {
    if (typeof testing === 'string') return
    const { program, llm, pods, claims } = await open(testing)
    await program.start()
    const { client } = program
    assert.match(program.said(), /the network policy is enforced: it is not/)
    await useModel(client, llm.url)

    const { id: task } = await client.conversations.start({ body: says('[[script:first]]') })
    const id = await until('the start is READY', 60_000, async () => {
      const [one] = await client.startTasks.getMany({ query: { ids: [task] } })
      assert.notEqual(one?.status, 'ERROR', String(one?.detail))
      return one?.app_conversation_id ?? undefined
    })
    const ran = observations((await rest(client, id)).events).join('\n')
    assert.match(ran, /^\d{10}\n\/workspace\/project/)
    const [conversation] = await client.conversations.getMany({ query: { ids: [id] } })
    const sandbox = conversation?.sandbox_id ?? ''
    const before = await pods(sandbox)
    assert.equal(before.length, 1)

    assert.equal(await program.end('SIGTERM'), 0)
    assert.deepEqual(await pods(sandbox), before)
    await program.start()
    const again = await say(client, id, '[[script:second]]')
    assert.match(observations((await rest(client, id, again)).events).join('\n'), /^kept/)
    assert.deepEqual(await pods(sandbox), before)

    const params = { id: sandbox }
    // What is still kept of the last run may open it once more.
    await until('it is PAUSED, and its pod is gone', 60_000, async () => {
      await client.sandboxes.pause({ params })
      await sleep(500)
      return (await client.sandboxes.get({ params })).status === 'PAUSED' && (await pods(sandbox)).length === 0
    })
    assert.equal((await claims(sandbox)).length, 1)
    await client.sandboxes.resume({ params })
    await until('it is RUNNING', 60_000, async () => (await client.sandboxes.get({ params })).status === 'RUNNING')
    const after = await say(client, id, '[[script:third]]')
    assert.match(observations((await rest(client, id, after)).events).join('\n'), /^kept\s+more/)

    await client.sandboxes.delete({ params })
    await until(
      'nothing is left',
      60_000,
      async () => (await pods(sandbox)).length + (await claims(sandbox)).length === 0,
    )
  },
)

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { engineLacks, startEngine } from '../tools/docker-engine.ts'
import { observations, rest, runs, say, says, scriptOf, until, useModel } from '../tools/house.ts'
import { openImageRegistry } from '../tools/image-registry.ts'
import { openProgram } from '../tools/program.ts'
import { openScriptedLlm } from '../tools/scripted-llm.ts'

/*
 * The real program with sandboxes in a real engine: an image is fetched, a command runs in its container, and the container
 * outlives a crash of the program, but not its orderly end.
 */

const skip = await engineLacks()
const stack = new AsyncDisposableStack()
after(() => stack.disposeAsync())

async function open() {
  const testing = await startEngine()
  stack.defer(() => testing.stop())
  const registry = stack.use(await openImageRegistry(await testing.filesOf(testing.image)))
  const llm = stack.use(
    await openScriptedLlm(
      scriptOf({
        first: {
          turns: [runs('tr "\\0" " " </proc/1/cmdline; pwd; echo kept >kept'), { text: 'Done.' }],
        },
        second: { turns: [runs('cat kept'), { text: 'Done.' }] },
      }),
    ),
  )
  const env = {
    PARLEY_SANDBOX: 'docker',
    DOCKER_HOST: testing.host,
    PARLEY_SANDBOX_IMAGE: registry.image,
    PARLEY_PRIVATE_HOSTS: new URL(llm.url).host,
  }
  const program = stack.use(await openProgram({ env }))
  const containers = async () =>
    (await testing.engine.listContainers({ all: true })).map(({ Id, State }) => `${Id} ${State}`)
  return { ...testing, registry, llm, program, containers }
}

test(
  'sandboxes are containers: the image is fetched in sight, a crash ends none, an orderly end leaves none',
  { skip },
  async () => {
    const { engine, registry, llm, program, containers } = await open()
    await program.start()
    assert.match(program.said(), /Pulling the image 127\.0\.0\.1:\d+\/slow:1/)
    await useModel(program.client, llm.url)

    await engine.getImage(registry.image).remove({ force: true })
    const seen: string[] = []
    const { id: task } = await program.client.conversations.start({ body: says('[[script:first]]') })
    const id = await until('the start is READY', 60_000, async () => {
      const [one] = await program.client.startTasks.getMany({ query: { ids: [task] } })
      if (typeof one?.detail === 'string') seen.push(`${one.status} ${one.detail}`)
      return one?.app_conversation_id ?? undefined
    })
    assert.match(seen.join('\n'), /WAITING_FOR_SANDBOX Pulling the image 127\.0\.0\.1:\d+\/slow:1/)
    const first = observations((await rest(program.client, id)).events).join('\n')
    assert.match(first, /socat TCP-LISTEN:3128[^]*\/workspace\/project/)

    await program.end('SIGKILL')
    assert.equal((await containers()).filter((line) => line.endsWith('running')).length, 1)
    await program.start()
    const at = await say(program.client, id, '[[script:second]]')
    assert.match(observations((await rest(program.client, id, at)).events).join('\n'), /^kept/)

    assert.equal(await program.end('SIGTERM'), 0)
    assert.deepEqual(await containers(), [])
  },
)

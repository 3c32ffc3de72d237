import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Parley } from '@parley/client/client'
import { engineLacks, startEngine } from '../tools/docker-engine.ts'
import { begin, observations, rest, runs, say, says, scriptOf, until, useModel } from '../tools/house.ts'
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
        third: { turns: [runs('echo hello'), { text: 'Done.' }] },
        second: { turns: [runs('cat kept'), { text: 'Done.' }] },
      }),
    ),
  )
  const env = {
    PARLEY_SANDBOX: 'docker',
    DOCKER_HOST: testing.host,
    PARLEY_SANDBOX_IMAGE: `${registry.image} ${testing.image}`,
    PARLEY_PRIVATE_HOSTS: new URL(llm.url).host,
  }
  const program = stack.use(await openProgram({ env }))
  const containers = async () =>
    (await testing.engine.listContainers({ all: true })).map(({ Id, Names, State }) => `${Names.join()} ${Id} ${State}`)
  return { ...testing, registry, llm, program, containers }
}

test(
  'sandboxes are containers: the image is fetched in sight, a crash ends none, an orderly end leaves none',
  { skip },
  async () => {
    const { engine, image, registry, llm, program, containers } = await open()
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

    await choosesAnImage(program.client, image)

    await program.end('SIGKILL')
    // The first sandbox has the id of its start.
    const mine = async () => (await containers()).filter((line) => line.includes(task))
    const [left = ''] = await mine()
    assert.match(left, / running$/)
    await program.start()
    assert.deepEqual(await mine(), [left])
    const at = await say(program.client, id, '[[script:second]]')
    assert.match(observations((await rest(program.client, id, at)).events).join('\n'), /^kept/)

    assert.equal(await program.end('SIGTERM'), 0)
    assert.deepEqual(await containers(), [])
  },
)

async function choosesAnImage(client: Parley, image: string): Promise<void> {
  const specs = await client.sandboxSpecs.search({ query: {} })
  assert.deepEqual(
    specs.items.map((spec) => spec.id),
    ['parley/workspace', image],
  )
  await client.settings.update({ body: { sandbox_base_container_image: 'nobody/offers:this' } })
  await assert.rejects(begin(client, says('[[script:second]]')), /nobody\/offers:this is not offered here/)
  // The image to run is the one that counts.
  await client.settings.update({ body: { sandbox_runtime_container_image: image } })
  const id = await begin(client, says('[[script:third]]'))
  assert.match(observations((await rest(client, id)).events).join('\n'), /hello/)
  const [conversation] = await client.conversations.getMany({ query: { ids: [id] } })
  const sandbox = { params: { id: conversation?.sandbox_id ?? '' } }
  assert.equal((await client.sandboxes.get(sandbox)).sandbox_spec_id, image)
  await client.sandboxes.delete(sandbox)
}

/*
 * Many sessions of pi's SDK in one Node process, driven by JSON lines on its standard streams: without HTTP, keys, isolation
 * or a durable log, so the hardest bar there is. Arguments: the folder in which `@earendil-works/pi-coding-agent` is installed.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [folder = ''] = process.argv.slice(2)
const package_ = createRequire(join(folder, 'index.js')).resolve.paths('x')?.[0] ?? ''
const { createAgentSession } = await import(
  pathToFileURL(join(package_, '@earendil-works/pi-coding-agent/dist/index.js')).href
)
const sessions = []
const verbs = {
  create: async ({ cwd }) => sessions.push((await createAgentSession({ cwd })).session) - 1,
  prompt: ({ id, text }) => sessions[id].prompt(text),
}
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { n, verb, ...rest } = JSON.parse(line)
  const answer = await Promise.resolve(verbs[verb](rest)).then(
    (result) => ({ n, result: result ?? null }),
    (error) => ({ n, error: String(error) }),
  )
  process.stdout.write(`${JSON.stringify(answer)}\n`)
})
process.stdout.write(`${JSON.stringify({ n: 0, result: 'ready' })}\n`)

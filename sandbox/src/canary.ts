import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Driver, Finding, Hands, SandboxSpec } from './driver.ts'
import { probesOf } from './probes.ts'

const mebibyte = 2 ** 20
const answerMs = 10_000

interface Kind {
  progress?: (line: string) => void
  /** Then `also` proves the walls around its network. */
  inPods?: boolean
  /** There are some to prove. True unless said. */
  walls?: boolean
  /** More to prove while it runs. */
  also?: (id: string) => Promise<Finding[]>
}

/** Starts a sandbox, proves on it what sandboxes are promised to be, and removes it. The error, when it did not start. */
export async function tryCanary(
  driver: Driver,
  image: string | null,
  signal: AbortSignal,
  { progress, inPods = false, walls = true, also = () => Promise.resolve([]) }: Kind = {},
): Promise<Finding[] | Error> {
  const spec: SandboxSpec = {
    id: randomUUID(),
    image,
    env: {},
    limits: { memory: 256 * mebibyte, processes: 64, cpu: 1, disk: 64 * mebibyte },
  }
  try {
    await driver.start(spec, signal, progress)
    const hands = await driver.hands(spec.id)
    const probed = walls ? await probe(hands, inPods, signal) : []
    return [fine('a sandbox starts'), ...probed, await egress(hands, walls, signal), ...(await also(spec.id))]
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  } finally {
    await driver.remove(spec.id)
  }
}

/** All probes, each a finding; a wall that does not stand is fatal. */
async function probe(hands: Hands, inPods: boolean, signal: AbortSignal): Promise<Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-doctor-'))
  const server = createServer((socket) => socket.destroy())
  try {
    const secret = join(folder, 'secret')
    await writeFile(secret, 'host', { mode: 0o600 })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const args = [String((server.address() as AddressInfo).port), secret]
    const findings: Finding[] = []
    for (const { name, script } of probesOf(inPods)) {
      const { stdout, timedOut } = await hands.run({ script, args, timeoutMs: 10_000, signal })
      const wrong = timedOut ? 'did not end' : stdout.toString().trim()
      findings.push(wrong === '' ? fine(name) : broken(name, wrong.slice(0, 300), null))
    }
    return findings
  } finally {
    server.close()
    await rm(folder, { recursive: true })
  }
}

async function egress(hands: Hands, walls: boolean, signal: AbortSignal): Promise<Finding> {
  const check = walls ? 'the way out is the proxy' : 'the proxy answers'
  const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
  try {
    await using stream = await hands.connect(hands.layout.proxyPort)
    // Not a whole URL: the proxy answers this by itself, without asking anybody.
    stream.write('GET / HTTP/1.0\r\n\r\n')
    const [answer] = (await once(stream, 'data', { signal: limit })) as [Buffer]
    if (String(answer).startsWith('HTTP/1.1 400')) return fine(check)
    return broken(check, `something else answers: ${String(answer).slice(0, 100)}`, null)
  } catch (error) {
    return broken(check, `the egress proxy does not answer: ${String(error)}`, null)
  }
}

export const fine = (check: string): Finding => ({ check, ok: true, fatal: false, detail: 'yes', fix: null })
export const broken = (check: string, detail: string, fix: string | null): Finding => ({
  check,
  ok: false,
  fatal: true,
  detail,
  fix,
})

/* A pod that runs: the ways into its two containers, its way out, and the count of what it uses. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Disk, OneByOne } from '../disk.ts'
import { leastFile, watchDisk } from '../disk.ts'
import type { Hands, Limits, SandboxSpec } from '../driver.ts'
import type { Door } from '../egress-door.ts'
import type { EgressProxy, Way } from '../egress-proxy.ts'
import { type Control, openControl } from '../entered/control.ts'
import { spawner } from '../entered/spawn.ts'
import { handsOver } from '../hands.ts'
import { hitLimits } from '../hit-limits.ts'
import { fileLimits, inside, trustFiles } from '../inside.ts'
import { runOverWorkers } from '../worker.ts'
import type { Cluster } from './cluster.ts'
import { openExec } from './exec.ts'
import { containers, objectName, volumeFolder, wayFiles } from './pod.ts'

export interface Entered {
  hands: Hands
  limitsHit(): Promise<string | undefined>
  /** Lets go of it: what runs in it goes on. */
  close(): Promise<void>
}

export interface Ground {
  cluster: Cluster
  proxy: EgressProxy
  door: Door
  countInTurn: OneByOne
  /** Ends the pod of a sandbox that cannot be brought to order from inside. */
  giveUp: (id: string) => void
}

const diskLookMs = 3_000
const hitsLookMs = 1_000
const enterMs = 30_000
/** Every process of the sandbox's user counts against its limit, also those that keep the way out and order. */
const atLimit = ({ processes }: Limits) => Math.min(processes * 0.9, processes - 12)

/** Resolves when programs can be started in it and the way out listens. */
export async function enterPod(ground: Ground, spec: SandboxSpec, signal: AbortSignal): Promise<Entered> {
  const { cluster, proxy, door, giveUp } = ground
  const { id, limits } = spec
  const enterInto =
    (container: string) =>
    (argv: readonly string[], terminal = false) =>
      openExec(cluster, { pod: objectName(id), container }, argv, terminal)
  const control = openControl(enterInto(containers.sandbox))
  const wayControl = openControl(enterInto(containers.way))
  const hand = spawner({
    enter: enterInto(containers.sandbox),
    control,
    workingDir: inside.workspace,
    env: () => spec.env,
    limits: shellText(spec),
    fed: true,
    giveUp: () => giveUp(id),
  })
  const wayHand = spawner({
    enter: enterInto(containers.way),
    control: wayControl,
    workingDir: '/',
    env: () => ({}),
    limits: ':',
    fed: true,
    giveUp: () => giveUp(id),
  })
  const way = proxy.open(id)
  const run = runOverWorkers(wayHand.spawn)
  const disk = watchDisk({
    disk: diskOver(run),
    limit: limits.disk,
    onFull: (reason) => void hand.endAll(reason),
    inTurn: ground.countInTurn,
    lookMs: diskLookMs,
  })
  const hits = watchHits(control, spec)
  const close = async () => {
    hits.close()
    disk.close()
    door.dismiss(id)
    hand.close()
    wayHand.close()
    control.close()
    wayControl.close()
    await way.close()
  }
  try {
    hand.warm()
    const limit = AbortSignal.any([signal, AbortSignal.timeout(enterMs)])
    await before(limit, Promise.all([tell(run, door, way, id, limit), control.ready()]))
    const hands = handsOver(hand.spawn, { beside: wayHand.spawn })
    return { hands, limitsHit: async () => hitLimits(await hits.seen(), disk, limits), close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * `ulimit` commands, and where programs are. A cluster bounds no number of processes for one pod, so it is bounded for the
 * user, who is this sandbox's alone. What keeps order inside is started without that.
 */
const shellText = ({ limits }: SandboxSpec): string =>
  `${fileLimits(limits)}; { ulimit -u ${limits.processes} || ulimit -p ${limits.processes}; } 2>/dev/null; ` +
  `export PATH="${inside.home}/.local/bin:$PATH"`

type Run = ReturnType<typeof runOverWorkers>

const tellScript = `umask 022
cd ${inside.runtime} && cat >all.new && printf %s "$1" >own.new || exit 1
mv -f all.new ${trustFiles.all} && mv -f own.new ${trustFiles.own} || exit 1
umask 077
printf '%s\\n' "$2" >${wayFiles.way}.new && mv -f ${wayFiles.way}.new ${wayFiles.way} || exit 1
old=$(cat ${wayFiles.pid} 2>/dev/null)
[ -z "$old" ] || kill "$old"
tries=0
until [ "$(cat ${wayFiles.pid} 2>/dev/null)" != "$old" ] && grep -q ':${inside.proxyPort.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A' /proc/net/tcp; do
  tries=$((tries + 1)); [ $tries -lt 500 ] || exit 1
  sleep 0.02
done`

/** Whom to trust, and the word by which the sandbox comes to its way out. Resolves when that listens, told anew. */
async function tell(run: Run, door: Door, { trust, take }: Way, id: string, signal: AbortSignal): Promise<void> {
  const host = door.host.includes(':') ? `[${door.host}]` : door.host
  const at = `${host} ${door.port} ${id}:${door.admit(id, take)}`
  const told = await run({ script: tellScript, args: [trust.own, at], stdin: Buffer.from(trust.all), signal })
  if (told.code !== 0) throw new Error(`the way out could not be told: ${told.stderr.trim()}`)
}

/** Counted in the other container, where the tenant cannot stop it: its user there is the same, so nothing is closed to it. */
function diskOver(run: Run): Disk {
  const numbers = async (script: string) => {
    const { code, stdout } = await run({ script, timeoutMs: 60_000 }).catch(() => ({ code: 1, stdout: '' }))
    const all = String(stdout).trim().split(/\s+/).map(Number)
    return code === 0 && all.every(Number.isFinite) ? all : undefined
  }
  return {
    async inUse() {
      // It fails for a file that went while it counted, and says a sum all the same.
      const script = `du -skx ${volumeFolder} 2>/dev/null | cut -f 1; find ${volumeFolder} -xdev 2>/dev/null | wc -l`
      const [kilobytes, files] = (await numbers(script)) ?? []
      if (kilobytes === undefined || files === undefined) return undefined
      return Math.max(kilobytes * 1024, files * leastFile)
    },
    async free() {
      const [blocks, size, files] = (await numbers(`stat -f -c '%a %S %d' ${volumeFolder}`)) ?? []
      return blocks === undefined || size === undefined || files === undefined
        ? -Infinity
        : blocks * size + files * leastFile
    },
  }
}

interface HitWatch {
  seen(): Promise<{ memory: number; processes: number }>
  close(): void
}

/** How often limits were hit. That of processes leaves no trace, so it is looked at while the sandbox is in use. */
function watchHits(control: Control, { limits }: SandboxSpec): HitWatch {
  const hits = { memory: 0, processes: 0 }
  let closed = false
  const look = async () => {
    const seen = await control.hits()
    if (seen === undefined) return
    hits.memory = seen.killed
    if (seen.processes >= atLimit(limits)) hits.processes++
  }
  const loop = async () => {
    while (!closed) {
      await sleep(hitsLookMs, undefined, { ref: false })
      if (!closed) await look()
    }
  }
  void loop()
  return {
    async seen() {
      await look()
      return hits
    },
    close: () => void (closed = true),
  }
}

async function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const abort = () => late.reject(signal.reason as Error)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    return await Promise.race([work, late.promise])
  } finally {
    signal.removeEventListener('abort', abort)
    late.promise.catch(() => undefined)
    work.catch(() => undefined)
  }
}

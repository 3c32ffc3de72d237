/*
 * A real engine for tests: a dockerd of its own, with its own socket, data and containers, that touches no network, no
 * firewall rule and nothing of another engine on this machine. Its images are made of programs of this machine, because
 * tests ask no registry.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Engine, openEngine } from '@parley/sandbox/docker/engine'
import { busybox, busyboxRoot, hostRoot, which } from './image-root.ts'

export interface TestingEngine {
  engine: Engine
  /** As in DOCKER_HOST. */
  host: string
  /** Shell, git and the usual programs, of this machine. */
  image: string
  /** BusyBox and nothing else; undefined where this machine has no static one. */
  busyboxImage: string | undefined
  /** The files of an image, as a tar. */
  filesOf(image: string): Promise<Buffer>
  stop(): Promise<void>
}

const run = promisify(execFile)
const upMs = 30_000
const downMs = 15_000

/** Why this machine cannot run one; undefined when it can. */
export async function engineLacks(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'needs Linux'
  if (process.getuid?.() !== 0) return 'needs root'
  if ((await which('dockerd')) === undefined) return 'dockerd is not installed (package docker.io)'
  return undefined
}

export async function startEngine(): Promise<TestingEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-engine-'))
  const host = `unix://${folder}/docker.sock`
  const daemon = await startDaemon(folder, host)
  const engine = openEngine(host)
  const stop = async () => {
    await endDaemon(daemon)
    await unmountBelow(folder)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await answering(engine, daemon)
    const image = await importImage(engine, folder, 'parley-test/host:1', hostRoot())
    const small = (await busybox()) === undefined ? undefined : 'parley-test/busybox:1'
    if (small !== undefined) await importImage(engine, folder, small, busyboxRoot)
    return { engine, host, image, busyboxImage: small, filesOf: (name) => filesOf(engine, name), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startDaemon(folder: string, host: string): Promise<ChildProcess> {
  const at = (name: string) => join(folder, name)
  const alone = ['--bridge=none', '--iptables=false', '--ip6tables=false', '--ip-forward=false', '--ip-masq=false']
  const places = ['--data-root', at('data'), '--exec-root', at('exec'), '--pidfile', at('pid'), '-H', host]
  const args = [...alone, ...places, '--oom-score-adjust', '0']
  const program = (await which('dockerd')) ?? 'dockerd'
  const env = { ...process.env, NO_PROXY: '127.0.0.1', PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` }
  const daemon = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env })
  daemon.on('error', () => undefined) // `answering` tells
  return daemon
}

async function answering(engine: Engine, daemon: ChildProcess): Promise<void> {
  let said = ''
  daemon.stderr?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2000)))
  const deadline = performance.now() + upMs
  for (;;) {
    if (await engine.ping().catch(() => false)) return
    if (daemon.exitCode !== null || daemon.pid === undefined || performance.now() > deadline)
      throw new Error(`dockerd did not start: ${said}`)
    await sleep(50)
  }
}

/** With TERM it ends its containers and their helpers. */
async function endDaemon(daemon: ChildProcess): Promise<void> {
  if (daemon.pid === undefined || daemon.exitCode !== null) return
  const gone = new Promise<void>((resolve) => daemon.once('exit', () => resolve()))
  daemon.kill('SIGTERM')
  await Promise.race([gone, sleep(downMs, undefined, { ref: false })])
  if (daemon.exitCode === null) daemon.kill('SIGKILL')
  await gone
}

async function unmountBelow(folder: string): Promise<void> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '')
  for (const mount of mounts.filter((path) => path.startsWith(`${folder}/`)).reverse())
    await run('umount', ['-l', mount]).catch(() => undefined)
}

async function importImage(engine: Engine, folder: string, name: string, fill: (root: string) => Promise<void>) {
  const root = await mkdtemp(join(folder, 'root-'))
  for (const part of ['bin', 'etc', 'home', 'proc', 'tmp', 'usr', 'var']) await mkdir(join(root, part))
  await fill(root)
  const tar = spawn('tar', ['-C', root, '--owner=0', '--group=0', '-c', '.'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [repo = '', tag] = name.split(':')
  const answer = await engine.importImage(tar.stdout, { repo, tag })
  await new Promise<void>((resolve, reject) => {
    engine.modem.followProgress(answer, (error: unknown) => (error instanceof Error ? reject(error) : resolve()))
  })
  await rm(root, { recursive: true })
  return name
}

async function filesOf(engine: Engine, image: string): Promise<Buffer> {
  const container = await engine.createContainer({ Image: image, Cmd: ['true'] })
  const parts: Buffer[] = []
  for await (const part of await container.export()) parts.push(part as Buffer)
  await container.remove()
  return Buffer.concat(parts)
}

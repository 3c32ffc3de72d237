/* One program that the cluster runs in a container, with its streams: the API's channels on a WebSocket. */
import { Writable } from 'node:stream'
import WebSocket from 'ws'
import { type Exec, holding, outputs } from '../entered/exec.ts'
import { type Cluster, ClusterError } from './cluster.ts'

const channel = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4 } as const
/** In all of them a program's input ends with the connection only; the newest are no different as long as we say nothing new. */
const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
/** What stands between closes a connection that says nothing for some minutes. */
const pingMs = 30_000
const openMs = 30_000

export interface Place {
  pod: string
  container: string
}

/** Rejects when it could not be asked for. A program that cannot be started ends with 126 and says why on stderr. */
export async function openExec(
  cluster: Cluster,
  { pod, container }: Place,
  argv: readonly string[],
  terminal: boolean,
): Promise<Exec> {
  const socket = await connect(cluster, pod, container, argv, terminal)
  const { stdout, stderr } = outputs()
  const write = holding(socket)
  let code: number | undefined
  socket.on('message', (data: Buffer) => {
    const body = data.subarray(1)
    if (data[0] === channel.stdout && body.length > 0) write(stdout, body)
    else if (data[0] === channel.stderr && body.length > 0) write(stderr, body)
    else if (data[0] === channel.status) {
      const end = endOf(body)
      code = end.code
      if (end.message !== '') stderr.write(`${end.message}\n`)
      socket.close()
    }
  })
  const alive = setInterval(() => socket.ping(), pingMs).unref()
  const { promise: ended, resolve } = Promise.withResolvers<number>()
  socket.on('error', () => undefined) // `close` comes too
  socket.on('close', () => {
    clearInterval(alive)
    stdout.end()
    stderr.end()
    resolve(code ?? 137)
  })
  // What comes too late is lost, as in a pipe that nobody reads: `ended` tells.
  const send = (to: number, chunk: Buffer, done: () => void) => {
    if (socket.readyState !== WebSocket.OPEN) return done()
    socket.send(Buffer.concat([Buffer.from([to]), chunk]), () => done())
  }
  return {
    stdin: new Writable({
      write: (chunk: Buffer, _, done) => send(channel.stdin, chunk, () => done()),
      final(done) {
        socket.close()
        done()
      },
    }),
    stdout,
    stderr,
    ended,
    resize: (columns, rows) =>
      send(channel.resize, Buffer.from(JSON.stringify({ Width: columns, Height: rows })), () => undefined),
    drop: () => socket.terminate(),
    lost: () => code === undefined,
  }
}

async function connect(
  { config, namespace }: Cluster,
  pod: string,
  container: string,
  argv: readonly string[],
  terminal: boolean,
): Promise<WebSocket> {
  const query = new URLSearchParams({ container, stdin: 'true', stdout: 'true', tty: String(terminal) })
  if (!terminal) query.set('stderr', 'true')
  for (const word of argv) query.append('command', word)
  const options: WebSocket.ClientOptions = { handshakeTimeout: openMs, perMessageDeflate: false }
  await config.applyToHTTPSOptions(options)
  const server = config.getCurrentCluster()?.server.replace(/^http/, 'ws') ?? ''
  const socket = new WebSocket(`${server}/api/v1/namespaces/${namespace}/pods/${pod}/exec?${query}`, protocols, options)
  // Held until somebody listens: what comes with the answer must not be missed.
  await new Promise<void>((resolve, reject) => {
    const fail = (why: string) => reject(new ClusterError(`the sandbox could not be entered: ${why}`))
    socket.once('open', () => (socket.pause(), resolve()))
    socket.once('error', (error) => fail(error.message))
    socket.once('unexpected-response', (_, response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text = (text + part).slice(0, 500)))
      response.once('end', () => fail(`status ${response.statusCode}: ${text.trim()}`))
      socket.on('error', () => undefined)
    })
  })
  setImmediate(() => socket.resume())
  return socket
}

interface Status {
  status?: string
  reason?: string
  message?: string
  details?: { causes?: { reason?: string; message?: string }[] }
}

function endOf(body: Buffer): { code: number; message: string } {
  const { status, reason, message = '', details } = JSON.parse(body.toString()) as Status
  if (status === 'Success') return { code: 0, message: '' }
  const code = details?.causes?.find((cause) => cause.reason === 'ExitCode')?.message
  return reason === 'NonZeroExitCode' && code !== undefined
    ? { code: Number(code), message: '' }
    : { code: 126, message }
}

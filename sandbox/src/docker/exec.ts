/* One program that the engine runs in a container, with its streams. */
import type { Duplex, PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Exec, holding, outputs } from '../entered/exec.ts'
import { inOrder } from '../size.ts'
import { type Container, plainly } from './engine.ts'

export async function openExec(container: Container, argv: readonly string[], terminal: boolean): Promise<Exec> {
  const options = { AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: terminal, Cmd: [...argv] }
  const exec = await plainly(container.exec(options))
  const stream = await plainly(exec.start({ hijack: true, stdin: true, Tty: terminal }))
  const { stdout, stderr } = outputs()
  const closed = new Promise<void>((resolve) => stream.once('close', resolve))
  stream.on('error', () => undefined) // `close` comes too
  if (terminal) pour(stream, (chunk) => [[stdout, chunk]])
  else pour(stream, frames(stdout, stderr))
  const code = async (): Promise<number> => {
    await closed
    stdout.end()
    stderr.end()
    for (let tries = 0; tries < 100; tries++) {
      const seen = await exec.inspect().catch(() => undefined)
      if (seen === undefined) return 137 // the container has gone
      if (!seen.Running && seen.ExitCode !== null) return seen.ExitCode
      await sleep(5)
    }
    return 137
  }
  return {
    stdin: stream,
    stdout,
    stderr,
    ended: code(),
    // Podman answers 201, which counts as an error there.
    resize: inOrder((columns, rows) => exec.resize({ w: columns, h: rows })),
    drop: () => stream.destroy(),
  }
}

function pour(stream: Duplex, parts: (chunk: Buffer) => [PassThrough, Buffer][]): void {
  const write = holding(stream)
  stream.on('data', (chunk: Buffer) => {
    for (const [to, part] of parts(chunk)) write(to, part)
  })
}

/** The engine's frames: a byte that says which stream, three of nothing, the length in four, and so many bytes. */
function frames(stdout: PassThrough, stderr: PassThrough): (chunk: Buffer) => [PassThrough, Buffer][] {
  const headSize = 8
  let head = Buffer.alloc(0)
  let left = 0
  let to = stdout
  return (chunk) => {
    const found: [PassThrough, Buffer][] = []
    let rest = chunk
    while (rest.length > 0) {
      if (left === 0) {
        const part = rest.subarray(0, headSize - head.length)
        head = Buffer.concat([head, part])
        rest = rest.subarray(part.length)
        if (head.length < headSize) break
        to = head[0] === 2 ? stderr : stdout
        left = head.readUInt32BE(4)
        head = Buffer.alloc(0)
      }
      const part = rest.subarray(0, left)
      if (part.length > 0) found.push([to, part])
      left -= part.length
      rest = rest.subarray(part.length)
    }
    return found
  }
}

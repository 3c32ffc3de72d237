import { Problem } from '@parley/contract/problems'
import { TerminalInput, type TerminalOutput, terminalWindow } from '@parley/contract/terminal'
import { type Process, SandboxGone } from '@parley/sandbox/driver'
import type { Socket } from '@parley/wire/socket'
import type { Sandboxes } from '../sandboxes/service.ts'
import type { Whole } from './store.ts'

/*
 * A shell for a person, in the sandbox of the agent. It lives as long as the line to it, and what it prints waits while the
 * person's end is behind.
 */

const mostTerminals = 8
const touchMs = 30_000

export type Terminals = ReturnType<typeof terminals>

export function terminals({ sandboxes }: { sandboxes: Pick<Sandboxes, 'hands' | 'touch'> }) {
  const open = new Map<string, number>()

  async function shell(row: Whole, size: { columns: number; rows: number }, signal: AbortSignal): Promise<Process> {
    const hands = await sandboxes.hands(row.owner_id, row.sandbox_id, signal)
    try {
      return hands.spawn({
        argv: ['sh', '-c', 'command -v bash >/dev/null && exec bash; exec sh'],
        cwd: row.working_dir,
        env: { TERM: 'xterm-256color', COLORTERM: 'truecolor' },
        terminal: size,
        signal,
      })
    } catch (error) {
      if (error instanceof SandboxGone) throw new Problem('sandbox_error', error.message, {}, { cause: error })
      throw error
    }
  }

  /** The sandbox is in use while somebody types. */
  function touching(id: string | null): () => void {
    let at = 0
    return () => {
      if (id === null || Date.now() - at < touchMs) return
      at = Date.now()
      sandboxes.touch(id).catch(() => undefined)
    }
  }

  return {
    /** Until the shell ends or the person goes. */
    async attend(row: Whole, size: { columns: number; rows: number }, socket: Socket): Promise<void> {
      const there = open.get(row.id) ?? 0
      if (there >= mostTerminals) throw new Problem('capacity', `${mostTerminals} terminals are open here.`)
      open.set(row.id, there + 1)
      try {
        const process = await shell(row, size, socket.signal)
        const flow = tell(process, socket)
        const used = touching(row.sandbox_id)
        void listen(socket, (input) => (used(), act(process, flow, input)))
        const { code } = await process.ended
        await flow.drained
        say(socket, { type: 'exit', code })
      } finally {
        open.set(row.id, (open.get(row.id) ?? 1) - 1)
        if (open.get(row.id) === 0) open.delete(row.id)
      }
    },
  }
}

const say = (socket: Socket, output: TerminalOutput): boolean => socket.send(JSON.stringify(output))

interface Flow {
  drawn(characters: number): void
  /** Resolves when all output has been handed on, or nobody is there to take it. */
  drained: Promise<unknown>
}

/** Hands the output on, and stops reading it while too much is on its way. */
function tell({ stdout }: Process, socket: Socket): Flow {
  let onItsWay = 0
  stdout.setEncoding('utf8').on('data', (data: string) => {
    onItsWay += data.length
    say(socket, { type: 'output', data })
    if (onItsWay > terminalWindow) stdout.pause()
  })
  const end = new Promise((resolve) => stdout.once('end', resolve).once('close', resolve))
  const gone = new Promise((resolve) => socket.signal.addEventListener('abort', resolve, { once: true }))
  return {
    drained: Promise.race([end, gone]),
    drawn(characters) {
      onItsWay = Math.max(0, onItsWay - characters)
      if (onItsWay <= terminalWindow / 2) stdout.resume()
    },
  }
}

function act(process: Process, flow: Flow, input: TerminalInput): void {
  if (input.type === 'input') process.stdin.write(input.data)
  else if (input.type === 'resize') process.resize(input.columns, input.rows)
  else flow.drawn(input.characters)
}

/** A frame that is none is passed over: who sends one has nothing to be told through a terminal. */
async function listen(socket: Socket, take: (input: TerminalInput) => void): Promise<void> {
  for await (const text of socket.messages) {
    const input = TerminalInput.safeParse(parsed(text))
    if (input.success) take(input.data)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

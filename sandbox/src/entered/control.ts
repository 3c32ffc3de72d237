import { SandboxGone } from '../driver.ts'
import type { Exec } from './exec.ts'
import { control } from './inner.ts'

/** A program inside that signals others there: see `inner.ts`. */
export interface Control {
  /** Resolves when the way out of the sandbox listens. */
  ready(): Promise<void>
  /** Resolves when it has been sent, or after `answerMs`. */
  signal(verb: 'all' | 'below', pid: number, mark: string, name: string): Promise<void>
  /** How many programs were killed for want of memory, and how many there are. Undefined when it does not answer. */
  hits(): Promise<{ killed: number; processes: number } | undefined>
  /** It has been opened and has not ended: as long as nobody else is inside, the sandbox has not either. */
  open(): boolean
  close(): void
}

interface Open {
  exec: Exec
  waiting: ((line: string) => void)[]
  ready: Promise<void>
}

const answerMs = 5_000
const longestLine = 1_000

/** Opened when it is first needed, and again when somebody inside has ended it. */
export function openControl(enter: (argv: readonly string[]) => Promise<Exec>): Control {
  let open: Promise<Open> | undefined
  let closed = false
  const start = async (): Promise<Open> => {
    const exec = await enter(['/bin/sh', '-c', control])
    const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
    ready.catch(() => undefined)
    const waiting: ((line: string) => void)[] = []
    exec.stdin.on('error', () => undefined)
    exec.stderr.resume()
    exec.stdout.setEncoding('utf8')
    let text = ''
    exec.stdout.on('data', (part: string) => {
      const lines = (text + part).split('\n')
      text = lines.pop() ?? ''
      // It says numbers; this is somebody else's voice.
      if (text.length > longestLine) return exec.drop()
      for (const line of lines)
        if (line === 'ready') resolve()
        else waiting.shift()?.(line)
    })
    void exec.ended.then((code) => {
      open = undefined
      reject(new SandboxGone(`the sandbox could not be entered (code ${code})`))
      for (const answer of waiting.splice(0)) answer('')
    })
    return { exec, waiting, ready }
  }
  const get = () => {
    if (closed) return Promise.reject(new SandboxGone('the sandbox has ended'))
    const opening = (open ??= start())
    opening.catch(() => (open = undefined))
    return opening
  }
  /** The line it answers; an empty one when none comes in time. */
  const ask = async (line: string): Promise<string> => {
    const { exec, waiting, ready } = await get()
    await ready
    return new Promise<string>((resolve) => {
      const late = setTimeout(() => resolve(''), answerMs)
      waiting.push((answer) => {
        clearTimeout(late)
        resolve(answer)
      })
      exec.stdin.write(`${line}\n`)
    })
  }
  return {
    ready: async () => (await get()).ready,
    async signal(verb, pid, mark, name) {
      await ask(`${verb} ${pid} ${mark} ${name.replace(/^SIG/, '')}`)
    },
    async hits() {
      const [, killed, processes] = /^(\d+) (\d+)$/.exec(await ask('hits').catch(() => '')) ?? []
      return killed === undefined ? undefined : { killed: Number(killed), processes: Number(processes) }
    },
    open: () => open !== undefined && !closed,
    close() {
      closed = true
      void open?.then(({ exec }) => exec.drop()).catch(() => undefined)
    },
  }
}

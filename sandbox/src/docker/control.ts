import { SandboxGone } from '../driver.ts'
import type { Exec } from './exec.ts'
import { control } from './inner.ts'

/** A program inside that signals others there: see `inner.ts`. */
export interface Control {
  /** Resolves when the way out of the sandbox listens. */
  ready(): Promise<void>
  /** Resolves when it has been sent, or after `answerMs`. */
  signal(verb: 'all' | 'below', pid: number, mark: string, name: string): Promise<void>
  close(): void
}

interface Open {
  exec: Exec
  waiting: (() => void)[]
  ready: Promise<void>
}

const answerMs = 5_000

/** Opened when it is first needed, and again when somebody inside has ended it. */
export function openControl(enter: (argv: readonly string[]) => Promise<Exec>): Control {
  let open: Promise<Open> | undefined
  let closed = false
  const start = async (): Promise<Open> => {
    const exec = await enter(['/bin/sh', '-c', control])
    const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
    ready.catch(() => undefined)
    const waiting: (() => void)[] = []
    exec.stdin.on('error', () => undefined)
    exec.stderr.resume()
    exec.stdout.setEncoding('utf8')
    let text = ''
    exec.stdout.on('data', (part: string) => {
      const lines = (text + part).split('\n')
      text = lines.pop() ?? ''
      for (const line of lines)
        if (line === 'ready') resolve()
        else waiting.shift()?.()
    })
    void exec.ended.then((code) => {
      open = undefined
      reject(new SandboxGone(`the sandbox could not be entered (code ${code})`))
      for (const answer of waiting.splice(0)) answer()
    })
    return { exec, waiting, ready }
  }
  const get = () => {
    if (closed) return Promise.reject(new SandboxGone('the sandbox has ended'))
    const opening = (open ??= start())
    opening.catch(() => (open = undefined))
    return opening
  }
  return {
    ready: async () => (await get()).ready,
    async signal(verb, pid, mark, name) {
      const { exec, waiting, ready } = await get()
      await ready
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, answerMs)
        waiting.push(() => {
          clearTimeout(late)
          resolve()
        })
        exec.stdin.write(`${verb} ${pid} ${mark} ${name.replace(/^SIG/, '')}\n`)
      })
    },
    close() {
      closed = true
      void open?.then(({ exec }) => exec.drop()).catch(() => undefined)
    },
  }
}

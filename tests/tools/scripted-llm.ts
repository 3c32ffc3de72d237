import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** What the server plays; `node scripted-llm.mjs --help` describes it. */
export type Script = Record<string, unknown>

/** One request as the server saw it; the help text of the server lists all fields. */
export interface LoggedRequest {
  n: number
  conv: string
  kind: 'turn' | 'side' | 'after' | 'error'
  wire: 'chat' | 'responses' | 'messages' | 'gemini'
  status: number
  fault?: string
  aborted?: boolean
  bytes: number
  messages: number
  cachedTokens: number
  promptTokens: number
  completionTokens: number
  prefixShare?: number
  gapMs?: number
  recvStart: number
  done: number
}

export interface ScriptedLlm extends AsyncDisposable {
  /** Without a path. */
  url: string
  /** But for questions that no script answers, such as those for a title: they come beside everything. */
  log(): Promise<{ requests: LoggedRequest[]; summary: Record<string, unknown> }>
  /** The body of the n-th request, as text. */
  body(n: number): Promise<string>
  setScript(script: Script): Promise<void>
  clear(): Promise<void>
  /** Lets the turns held by `hold: name` go on. */
  release(name: string): Promise<void>
}

/** A model on loopback that plays a script; its process ends with the handle, and with the test's process at the latest. */
export async function openScriptedLlm(script: Script): Promise<ScriptedLlm> {
  const folder = await mkdtemp(join(tmpdir(), 'scripted-llm-'))
  const file = join(folder, 'script.json')
  await writeFile(file, JSON.stringify(script))
  const program = fileURLToPath(new URL('scripted-llm.mjs', import.meta.url))
  const child = spawn(process.execPath, [program, '--script', file, '--keep-bodies', '200'], {
    // The channel is for its end alone: it also ends with a test that ends without a word.
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const stop = () => child.kill('SIGKILL')
  process.once('exit', stop)
  const url = await listening(child)
  const call = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(url + path, { ...init, signal: AbortSignal.timeout(10_000) })
    if (!response.ok)
      throw new Error(`scripted LLM: ${init.method ?? 'GET'} ${path} → ${response.status} ${await response.text()}`)
    return response.text()
  }
  return {
    url,
    async log() {
      const { requests, ...rest } = JSON.parse(await call('/log')) as Awaited<ReturnType<ScriptedLlm['log']>>
      return { ...rest, requests: requests.filter(({ kind, status }) => kind !== 'side' || status !== 401) }
    },
    body: (n) => call(`/log/${n}/body`),
    setScript: async (next) => void (await call('/script', { method: 'PUT', body: JSON.stringify(next) })),
    clear: async () => void (await call('/log', { method: 'DELETE' })),
    release: async (name) => void (await call(`/release/${encodeURIComponent(name)}`, { method: 'POST' })),
    async [Symbol.asyncDispose]() {
      process.off('exit', stop)
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit')
        stop()
        await ended
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function listening(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('scripted LLM: no output')
  const lines = createInterface({ input: child.stdout })
  const [line] = await once(lines, 'line', { signal: AbortSignal.timeout(10_000) })
  return (JSON.parse(String(line)) as { url: string }).url
}

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import { type Parley, parley } from '../client.ts'
import type { Environment } from './environment.ts'

/** What every command is given: where to ask, where to write. */
export interface Terminal {
  environment: Environment
  write(text: string): void
  signal: AbortSignal
}

export interface Login {
  baseUrl: string
  key: string
}

/** The kept login, or undefined when there is none. */
export async function readLogin(file: string): Promise<Partial<Login> | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Partial<Login>
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new Error(`${file} cannot be read; run \`parley login\` again`, { cause: error })
  }
}

/** Keeps a login where only its owner can read it; a crash leaves the old file or the new one. */
export async function writeLogin(file: string, login: Login): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(`${file}.new`, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
}

/** The client of a command: options win over the environment, the environment over the kept login. */
export async function open(terminal: Terminal, command: Command): Promise<Parley> {
  const options = command.optsWithGlobals<{ baseUrl?: string; key?: string }>()
  const { environment } = terminal
  const kept = await readLogin(environment.configFile)
  const key = options.key ?? environment.key ?? kept?.key
  const baseUrl = options.baseUrl ?? environment.baseUrl ?? kept?.baseUrl ?? 'http://127.0.0.1:3000'
  if (key === undefined) throw new Error('no API key: run `parley login`, set PARLEY_API_KEY or pass --key')
  return parley({ baseUrl: baseUrl.replace(/\/+$/, ''), key })
}

/** Shows a value: JSON with `--json`, else the given lines. */
export function show(terminal: Terminal, command: Command, value: unknown, lines: () => string[]): void {
  const { json } = command.optsWithGlobals<{ json?: boolean }>()
  for (const line of json ? [JSON.stringify(value)] : lines()) terminal.write(`${plain(line)}\n`)
}

/** Text that cannot command the terminal: control characters other than tab and newline become visible. */
export const plain = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  })

/** Rows as columns, the last one unpadded. */
export function table(rows: (string | number | null | undefined)[][]): string[] {
  const cells = rows.map((row) => row.map((cell) => String(cell ?? '-').replaceAll(/\s+/g, ' ')))
  const widths = cells.reduce<number[]>((most, row) => row.map((cell, at) => Math.max(cell.length, most[at] ?? 0)), [])
  return cells.map((row) =>
    row.map((cell, at) => cell.padEnd(at === row.length - 1 ? 0 : (widths[at] ?? 0))).join('  '),
  )
}

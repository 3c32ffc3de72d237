/*
 * Files of a sandbox, by short scripts that run inside it as its own user: no path that a tenant can shape is ever
 * resolved outside. Paths are arguments, never text of a script.
 */
import { randomBytes } from 'node:crypto'
import type { FileEntry, Files, RunCommand, RunResult } from './driver.ts'
import { FileError } from './driver.ts'

type Run = (command: RunCommand) => Promise<RunResult>

const maxFile = 512 * 2 ** 20
const maxListing = 64 * 2 ** 20
/** Up to here data travels as an argument of a worker's command; more goes in as the input of a process of its own. */
const smallData = 48 * 1024
const timeoutMs = 120_000

/** Says which of Node's codes fits the failure of a program that only speaks words. */
const fail = `fail() { printf '%s' "$1" >&2; exit 90; }
check() {
  if [ -e "$1" ]; then { [ -r "$1" ] || fail EACCES; }; return 0; fi
  d=\${1%/*}; while [ -n "$d" ] && [ ! -e "$d" ]; do d=\${d%/*}; done
  [ -z "$d" ] || [ -d "$d" ] || fail ENOTDIR
  [ -z "$d" ] || [ -x "$d" ] || fail EACCES
  fail ENOENT
}
`
const parents = `case $1 in */*) d=\${1%/*};; *) fail EINVAL;; esac
[ -d "$1" ] && fail EISDIR
[ -z "$d" ] || [ -d "$d" ] || mkdir -p -- "$d" 2>/dev/null || { [ -e "$d" ] && fail ENOTDIR; fail EACCES; }
`
const readScript = `${fail}check "$1"
[ -d "$1" ] && fail EISDIR
if [ -n "$2" ]; then tail -c "+$2" -- "$1" | head -c "$3"; else cat -- "$1"; fi`

/** $1 path, $2 temporary name, $3 mode or empty, $4 data in base64 (unset: on standard input). */
const writeScript = `${fail}${parents}
t=$d/$2
trap 'rm -f -- "$t"' EXIT
mode=$3
[ -n "$mode" ] || { [ -e "$1" ] && mode=$(stat -L -c %a -- "$1"); }
if [ $# -gt 3 ]; then printf %s "$4" | base64 -d >"$t"; else cat >"$t"; fi || { [ -e "$t" ] && fail ENOSPC; fail EACCES; }
[ -z "$mode" ] || chmod "$mode" -- "$t" || fail EACCES
target=$1
[ -L "$1" ] && target=$(readlink -f -- "$1")
mv -f -- "$t" "$target" || fail EACCES
trap - EXIT`

const appendScript = `${fail}${parents}
{ if [ $# -gt 1 ]; then printf %s "$2" | base64 -d; else cat; fi >>"$1"; } 2>/dev/null || { [ -w "$1" ] || fail EACCES; fail ENOSPC; }`

/** In the words that GNU and BusyBox share. Two slashes end it: no name has one. */
const format = '%F/%s/%Y/%a/'
const listScript = `${fail}check "$1"
[ -d "$1" ] || fail ENOTDIR
[ -x "$1" ] || fail EACCES
cd -- "$1" && find . -mindepth 1 -maxdepth 1 -exec stat -c '${format}%n//' -- {} +`
const statScript = `${fail}[ -e "$1" ] || [ -L "$1" ] || { (check "$1") 2>/dev/null; exit 0; }
stat -c '${format}././/' -- "$1"`

export function filesOver(run: Run): Files {
  const call = async (script: string, path: string, more: Partial<RunCommand> = {}, args: string[] = []) => {
    checkPath(path)
    const result = await run({ timeoutMs, ...more, script, args: [path, ...args], env: { LC_ALL: 'C.UTF-8' } })
    if (result.timedOut)
      throw new FileError('ETIMEDOUT', `${path}: the file operation took longer than ${timeoutMs / 1000} s`)
    if (result.code !== 0) throw failure(path, result)
    return result
  }
  const withData = (data: Uint8Array) =>
    data.length > smallData
      ? { more: { stdin: data }, args: [] }
      : { more: {}, args: [Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')] }
  return {
    async read(path, range) {
      const part = range === undefined ? [] : [String(whole(range.from) + 1), String(whole(range.length))]
      const { stdout, truncated } = await call(readScript, path, { maxBytes: maxFile }, part)
      if (truncated) throw new FileError('EFBIG', `${path}: larger than ${maxFile} bytes; read it in ranges`)
      return stdout
    },
    async write(path, data, { mode } = {}) {
      const { more, args } = withData(data)
      const temporary = `.parley-${randomBytes(8).toString('hex')}`
      await call(writeScript, path, more, [temporary, mode === undefined ? '' : (mode & 0o7777).toString(8), ...args])
    },
    async append(path, data) {
      const { more, args } = withData(data)
      await call(appendScript, path, more, args)
    },
    async list(path) {
      const { stdout } = await call(listScript, path, { maxBytes: maxListing })
      const base = path.replace(/\/+$/, '')
      return entries(stdout, (name) => `${base}/${name}`).sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    async stat(path) {
      const { stdout } = await call(statScript, path)
      const found = entries(stdout, () => path)[0]
      return found === undefined ? null : { ...found, name: path.slice(path.lastIndexOf('/') + 1) }
    },
    async remove(path) {
      await call(`${fail}rm -rf -- "$1" 2>/dev/null || fail EACCES`, path)
    },
  }
}

function checkPath(path: string): void {
  if (!path.startsWith('/') || path.includes('\0') || path.length > 4096) {
    throw new FileError('EINVAL', `not an absolute path: ${JSON.stringify(path.slice(0, 200))}`)
  }
}

function whole(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new FileError('EINVAL', 'a range counts in whole bytes from 0')
  return value
}

const reasons: Record<string, string> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
  ENOTDIR: 'not a directory',
  ENOSPC: 'no space left',
  EINVAL: 'not a file path',
}

function failure(path: string, { code, stderr }: RunResult): FileError {
  const said = code === 90 ? stderr.slice(-16) : ''
  const known = Object.keys(reasons).find((one) => said.endsWith(one)) ?? 'EIO'
  return new FileError(known, `${path}: ${reasons[known] ?? stderr.trim().slice(-300)}`)
}

function entries(output: Buffer, pathOf: (name: string) => string): FileEntry[] {
  const records = output.toString('utf8').split('//\n').slice(0, -1)
  return records.map((record) => {
    const [kind = '', size, modified, mode, , name = ''] = record.split('/')
    return {
      name,
      path: pathOf(name),
      type: kind.startsWith('regular') ? 'file' : (types[kind] ?? 'other'),
      size: Number(size),
      modified: Number(modified) * 1000,
      mode: parseInt(mode ?? '0', 8),
    }
  })
}

const types: Record<string, FileEntry['type']> = { directory: 'directory', 'symbolic link': 'symlink' }

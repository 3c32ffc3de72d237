/*
 * What a sandbox looks like to the programs in it, whatever kind it is: its user, its folders, its variables, the files of
 * /etc that are ours, and what its first process does.
 */
import type { Limits } from './driver.ts'

/** The user inside, whatever it is outside. */
export const inside = { uid: 1000, name: 'agent', home: '/home/agent', runtime: '/run/parley' } as const

export const proxyPort = 3128

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** What every program inside is told. `path`: where its image has programs. */
export function baseEnv(workingDir: string, path = systemPath): Record<string, string> {
  const proxy = `http://127.0.0.1:${proxyPort}`
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()])
  return {
    PATH: `${inside.home}/.local/bin:${path}`,
    HOME: inside.home,
    USER: inside.name,
    LOGNAME: inside.name,
    SHELL: '/bin/sh',
    LANG: 'C.UTF-8',
    TMPDIR: '/tmp',
    PARLEY_WORKSPACE: workingDir,
    GIT_TERMINAL_PROMPT: '0',
    // Node's fetch asks for the proxy only when told to.
    NODE_USE_ENV_PROXY: '1',
    ...Object.fromEntries(names.map((name) => [name, proxy])),
    NO_PROXY: 'localhost,127.0.0.1,::1',
    no_proxy: 'localhost,127.0.0.1,::1',
    ...trustEnv,
  }
}

/** `ulimit` commands that bound one file: what no control group does. */
export const fileLimits = ({ disk }: Limits): string => `ulimit -c 0; ulimit -f ${Math.ceil(disk / 512)} 2>/dev/null`

/** Files beside the socket by which programs trust the sandbox's own authority, alone and beside those that all trust. */
export const trustFiles = { own: 'ca.pem', all: 'trusted.pem' } as const

/** Variables by which the usual programs and libraries find these files. */
const trustEnv: Readonly<Record<string, string>> = {
  NODE_EXTRA_CA_CERTS: `${inside.runtime}/${trustFiles.own}`,
  ...Object.fromEntries(
    ['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO', 'PIP_CERT', 'CARGO_HTTP_CAINFO'].map(
      (name) => [name, `${inside.runtime}/${trustFiles.all}`],
    ),
  ),
}

/** A UUID, as it names processes, folders, containers and pods. */
export const isSandboxId = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text)

/** Names that a workspace may not take. */
const taken = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/proc',
  '/dev',
  '/run',
  '/sys',
  '/tmp',
  '/var',
  '/home',
  '/opt',
]

/** Why this cannot be the workspace's path; undefined when it can. */
export function refuseWorkingDir(path: string): string | undefined {
  if (!/^(\/[\w.@-]+)+$/.test(path) || path.split('/').some((part) => part === '.' || part === '..')) {
    return `working directory must be a plain absolute path, not ${JSON.stringify(path)}`
  }
  const clash = taken.find((one) => path === one || path.startsWith(`${one}/`))
  return clash === undefined ? undefined : `working directory must not lie in ${clash}`
}

/**
 * What process 1 does: it keeps the way out open and gathers orphans, says `up` on its output at once (all walls stand
 * then) and `ready` once the way out listens, and cannot be ended from inside. `limits` are `ulimit` commands, where no cgroup holds the limits.
 */
export function initScript(limits: string): string {
  const port = proxyPort.toString(16).toUpperCase().padStart(4, '0')
  return `${limits}
echo up
exec 3>&1 </dev/null >/dev/null 2>&1
(
  while :; do
    while read -r _ at _; do case $at in *:${port}) echo ready >&3; exit; esac; done </proc/net/tcp
    sleep 0.004
  done
) &
exec 3>&-
while :; do
  socat TCP-LISTEN:${proxyPort},bind=127.0.0.1,fork,reuseaddr,max-children=200 UNIX-CONNECT:${inside.runtime}/egress.sock
  sleep 0.1
done`
}

/*
 * What a sandbox looks like to the programs in it, whatever kind it is: its user, its folders, its variables, the files of
 * /etc that are ours, and what its first process does.
 */
import type { Layout, Limits } from './driver.ts'

/** The user inside, whatever it is outside, and where things are behind walls. */
export const inside = {
  uid: 1000,
  name: 'agent',
  workspace: '/workspace',
  home: '/home/agent',
  tmp: '/tmp',
  runtime: '/run/parley',
  proxyPort: 3128,
} as const satisfies Layout & { uid: number; name: string }

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** What every program inside is told. `path`: where its image has programs. */
export function baseEnv(path = systemPath, layout: Layout = inside): Record<string, string> {
  const proxy = `http://127.0.0.1:${layout.proxyPort}`
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()])
  return {
    PATH: `${layout.home}/.local/bin:${path}`,
    HOME: layout.home,
    USER: inside.name,
    LOGNAME: inside.name,
    SHELL: '/bin/sh',
    LANG: 'C.UTF-8',
    TMPDIR: layout.tmp,
    PARLEY_WORKSPACE: layout.workspace,
    GIT_TERMINAL_PROMPT: '0',
    // Node's fetch asks for the proxy only when told to.
    NODE_USE_ENV_PROXY: '1',
    ...Object.fromEntries(names.map((name) => [name, proxy])),
    NO_PROXY: 'localhost,127.0.0.1,::1',
    no_proxy: 'localhost,127.0.0.1,::1',
    ...trustEnv(layout),
  }
}

/** `ulimit` commands that bound one file: what no control group does. */
export const fileLimits = ({ disk }: Limits): string => `ulimit -c 0; ulimit -f ${Math.ceil(disk / 512)} 2>/dev/null`

/** Files beside the socket by which programs trust the sandbox's own authority, alone and beside those that all trust. */
export const trustFiles = { own: 'ca.pem', all: 'trusted.pem' } as const

/** Variables by which the usual programs and libraries find these files. */
const trustEnv = ({ runtime }: Layout): Record<string, string> => ({
  NODE_EXTRA_CA_CERTS: `${runtime}/${trustFiles.own}`,
  ...Object.fromEntries(
    ['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO', 'PIP_CERT', 'CARGO_HTTP_CAINFO'].map(
      (name) => [name, `${runtime}/${trustFiles.all}`],
    ),
  ),
})

/** A UUID, as it names processes, folders, containers and pods. */
export const isSandboxId = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text)

/**
 * What process 1 does: it keeps the way out open and gathers orphans, says `up` on its output at once (all walls stand
 * then) and `ready` once the way out listens, and cannot be ended from inside. `limits` are `ulimit` commands, where no cgroup holds the limits.
 */
export function initScript(limits: string): string {
  const port = inside.proxyPort.toString(16).toUpperCase().padStart(4, '0')
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
  socat TCP-LISTEN:${inside.proxyPort},bind=127.0.0.1,fork,reuseaddr,max-children=200 UNIX-CONNECT:${inside.runtime}/egress.sock
  sleep 0.1
done`
}

import type { SandboxSpec } from './driver.ts'
import { inside } from './inside.ts'

/** Files of /etc by name: nothing in them says anything about the host. `uid`: user and group of the tenant inside. */
export function etcFiles(spec: SandboxSpec, uid: number = inside.uid): Record<string, string> {
  const { name, home } = inside
  return {
    passwd: `root:x:0:0:root:/root:/usr/sbin/nologin\n${name}:x:${uid}:${uid}::${home}:/bin/sh\nnobody:x:65534:65534::/:/usr/sbin/nologin\n`,
    group: `root:x:0:\n${name}:x:${uid}:\nnogroup:x:65534:\n`,
    hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
    hostname: 'sandbox\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
    'resolv.conf': '# Names are resolved by the proxy.\n',
    gitconfig: gitConfig(spec),
  }
}

function gitConfig({ gitRewrites = [], gitIdentity }: SandboxSpec): string {
  const sections: [string, [string, string][]][] = [
    ['safe', [['directory', '*']]],
    ['core', [['fsmonitor', 'false']]],
    ['protocol', [['allow', 'never']]],
    ...['http', 'https', 'ssh', 'git'].map((name): [string, [string, string][]] => [
      `protocol ${quoted(name)}`,
      [['allow', 'always']],
    ]),
    ['protocol "file"', [['allow', 'user']]],
    ...gitRewrites.map(({ from, to }): [string, [string, string][]] => [`url ${quoted(to)}`, [['insteadOf', from]]]),
  ]
  if (gitIdentity !== undefined)
    sections.push([
      'user',
      [
        ['name', gitIdentity.name],
        ['email', gitIdentity.email],
      ],
    ])
  return sections
    .map(([title, lines]) => `[${title}]\n${lines.map(([key, value]) => `\t${key} = ${quoted(value)}\n`).join('')}`)
    .join('')
}

/** A value of git's configuration. Control characters cannot be written there and are refused. */
function quoted(value: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(value))
    throw new Error(`git setting has a control character: ${JSON.stringify(value)}`)
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}

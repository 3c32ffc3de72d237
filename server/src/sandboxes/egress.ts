import type { Gate, Outgoing, Verdict } from '@parley/sandbox/egress'
import type { Git } from '../git/service.ts'
import type { SandboxStore } from './store.ts'

/*
 * What leaves a sandbox. Git's requests to a connected forge get their credential here and nowhere else, fresh at each use.
 * Beside the forges only the registries of packages are reached; everything else is refused with a reason the agent reads.
 */

/** Where programs get their packages from: the hosts of the usual clients, without any port but the scheme's own. */
export const packageHosts: readonly string[] = [
  'registry.npmjs.org',
  'registry.yarnpkg.com',
  'nodejs.org',
  'pypi.org',
  'files.pythonhosted.org',
  'crates.io',
  'index.crates.io',
  'static.crates.io',
  'static.rust-lang.org',
  'proxy.golang.org',
  'sum.golang.org',
  'go.dev',
  'rubygems.org',
  'repo.maven.apache.org',
  'repo1.maven.org',
  'plugins.gradle.org',
  'api.nuget.org',
  'packagist.org',
  'repo.packagist.org',
  'deb.debian.org',
  'security.debian.org',
  'archive.ubuntu.com',
  'security.ubuntu.com',
  'dl-cdn.alpinelinux.org',
]

const open = new Set(packageHosts)

export function sandboxGate({ store, git }: { store: SandboxStore; git: Git }): Gate {
  return {
    async decide(out) {
      const row = await store.get(out.sandboxId)
      if (row === undefined || row.wanted !== 'running') return refuse(out, 'this sandbox is on its way to its end')
      const credential = await credentialOf(row.owner_id, out)
      if (credential !== null) return { allow: true, headers: credential.headers, scheme: credential.scheme }
      const forges = Object.values(await git.connected(row.owner_id)).map((host) => new URL(host).host)
      if (forges.includes(hostPort(out)) || forges.includes(out.host)) return { allow: true }
      if (open.has(out.host) && (out.port === 443 || out.port === 80)) return { allow: true }
      return refuse(out, 'only connected forges and package registries can be reached')
    },
  }

  async function credentialOf(owner: string, { sandboxId, method, path, scheme, host, port }: Outgoing) {
    if (method === null || path === null) return null
    const repositories = (await store.repositories(sandboxId)).map((one) => ({
      provider: one.git_provider,
      name: one.repository,
    }))
    return git.credentialFor({ owner, repositories, scheme, host, port, path, method })
  }
}

const hostPort = ({ host, port }: Outgoing): string => `${host}:${port}`

const refuse = ({ host, port }: Outgoing, why: string): Verdict => ({ allow: false, reason: `${host}:${port}: ${why}` })

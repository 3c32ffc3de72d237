import { type EgressPolicy, hostMatches, strictest } from '@parley/contract/egress'
import type { StoredSettings } from '@parley/contract/settings'
import type { Gate, Outgoing, Verdict } from '@parley/sandbox/egress'
import type { Git } from '../git/service.ts'
import type { Limits } from '../limits.ts'
import type { SecretsService } from '../secrets/service.ts'
import type { SettingsService } from '../settings/service.ts'
import { packageHosts } from './package-hosts.ts'
import type { AskedPolicy, SandboxRow, SandboxStore } from './store.ts'

/*
 * What leaves a sandbox. Git's requests to a connected forge get their credential here and nowhere else, fresh at each use,
 * and so does every secret that is bound to hosts. What the policy does not let through is refused with a reason that the
 * agent reads. Which addresses are out of reach with each policy is decided where they are dialled.
 */

interface Parts {
  store: SandboxStore
  git: Pick<Git, 'connected' | 'credentialFor'>
  settings: Pick<SettingsService, 'stored'>
  secrets: Pick<SecretsService, 'goingTo'>
  limits: Pick<Limits, 'egress'>
  /** Told of each refusal; must not throw. */
  refused: (sandboxId: string, out: Outgoing, why: string) => void
}

export function sandboxGate({ store, git, settings, secrets, limits: { egress }, refused }: Parts): Gate {
  return {
    async decide(out) {
      const row = await store.get(out.sandboxId)
      if (row === undefined || row.wanted !== 'running')
        return { allow: false, reason: 'this sandbox is on its way to its end' }
      const [stored, asked] = await Promise.all([settings.stored(row.owner_id), store.policies(row.id)])
      const policy = policyFor(egress, stored, asked)
      const verdict = await allowed(row, policy, stored, out)
      if (verdict !== undefined) return verdict
      const reason = refusal(policy, out)
      refused(out.sandboxId, out, reason)
      return { allow: false, reason }
    },
  }

  async function allowed(row: SandboxRow, policy: EgressPolicy, stored: StoredSettings, out: Outgoing) {
    const { host, port } = out
    const credential = await credentialOf(row.owner_id, out)
    if (credential !== null && (policy !== 'none' || credential.about))
      return { allow: true, headers: credential.headers, scheme: credential.scheme } satisfies Verdict
    if (policy === 'none') return undefined
    const put = await secrets.goingTo(row.owner_id, host, port)
    if (put.length > 0) return { allow: true, put } satisfies Verdict
    const isIn = policy === 'open' ? openPort(port) : await isListed(row.owner_id, stored, out)
    return isIn ? ({ allow: true } satisfies Verdict) : undefined
  }

  async function isListed(owner: string, { egress_hosts }: StoredSettings, { host, port }: Outgoing): Promise<boolean> {
    const listed = [...packageHosts, ...egress.hosts, ...(egress_hosts ?? [])]
    if (listed.some((said) => hostMatches(said, host, port))) return true
    const forges = Object.values(await git.connected(owner)).map((forge) => new URL(forge))
    return forges.some((forge) => forge.host === `${host}:${port}` || (forge.hostname === host && isWeb(port)))
  }

  async function credentialOf(owner: string, out: Outgoing): ReturnType<Git['credentialFor']> {
    const { method, path, scheme, host, port } = out
    if (method === null || path === null) return null
    const repositories = (await store.repositories(out.sandboxId)).map((one) => ({
      provider: one.git_provider,
      name: one.repository,
    }))
    return git.credentialFor({ owner, repositories, scheme, host, port, path, method })
  }
}

/** The strictest that a conversation in the sandbox asked for or the settings say, and never more than the operator allows. */
export function policyFor(
  { policy, most }: Limits['egress'],
  { egress_policy }: Pick<StoredSettings, 'egress_policy'>,
  asked: readonly AskedPolicy[],
): EgressPolicy {
  const usual = egress_policy ?? policy
  const said = asked.length === 0 ? [usual] : asked.map((one) => (one === 'settings' ? usual : one))
  return strictest(most, ...said)
}

const isWeb = (port: number): boolean => port === 80 || port === 443

/** Of the low ports those of the web and of SSH: mail, above all, is not sent from here. */
const openPort = (port: number): boolean => isWeb(port) || port === 22 || port >= 1024

const mend = 'Do not look for a way around it. If the work needs this host, tell the user, who can'

function refusal(policy: EgressPolicy, { host, port }: Outgoing): string {
  if (policy === 'open') return `port ${port} is closed; the policy "open" means ports 22, 80, 443 and from 1024 on.`
  if (policy === 'none')
    return `the policy "none" lets only git reach the repository of the conversation. ${mend} start a conversation with the policy "allowlist" or "open".`
  return `it is no connected forge, no package registry and not on a list. ${mend} add ${host} to the allowed hosts in the settings (egress_hosts), or start a conversation with the policy "open".`
}

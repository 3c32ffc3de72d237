import { z } from 'zod'

/* What a sandbox may reach outside. */

export const egressPolicies = ['none', 'allowlist', 'open'] as const
/**
 * `none`: the repository of the conversation, by git, and nothing else. `allowlist`: also connected forges, package
 * registries, and hosts that the operator or the user has listed. `open`: the Internet. Addresses inside somebody's own
 * network are out of reach with each of them.
 */
export const EgressPolicy = z.enum(egressPolicies).meta({
  id: 'EgressPolicy',
  description:
    '`none`: the repository by git and nothing else. `allowlist`: also connected forges, package registries and listed hosts. ' +
    '`open`: the Internet.',
})
export type EgressPolicy = z.infer<typeof EgressPolicy>

/** The one that lets the least through. */
export const strictest = (...policies: EgressPolicy[]): EgressPolicy =>
  policies.reduce((one, other) => (egressPolicies.indexOf(one) < egressPolicies.indexOf(other) ? one : other), 'open')

const pattern = /^(\*\.)?([a-z0-9_-]+\.)*[a-z0-9_-]+(:\d{1,5})?$/

/** A host, or with `*.` every name below it; with a port, that port alone, else those of http and https. */
export const HostPattern = z
  .string()
  .max(255)
  .toLowerCase()
  .regex(pattern, 'must be a host such as api.example.org, *.example.org or api.example.org:8443')
  .refine((text) => !text.startsWith('*.') || text.split('.').length > 2, 'must name more than a top-level domain')

/** Whether a pattern means this host (lower case) and port. */
export function hostMatches(said: string, host: string, port: number): boolean {
  const [name = '', only] = said.split(':')
  if (only === undefined ? port !== 80 && port !== 443 : Number(only) !== port) return false
  return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name
}

import type { Put } from './placeholders.ts'

/*
 * The only way out of a sandbox: a proxy of ours on a socket that belongs to that one sandbox, so that who asks is known
 * from where it asks. It speaks HTTP/1.1 proxying (absolute form and CONNECT). A `Gate`, given by the server, decides.
 */

export interface Outgoing {
  sandboxId: string
  scheme: 'http' | 'https'
  host: string
  port: number
  /** Null for CONNECT: what goes through an encrypted tunnel is not seen. */
  method: string | null
  path: string | null
}

export type Verdict =
  /**
   * `headers` are put in (and replace what the sandbox sent); `scheme` upgrades a plain request, as git's to its forge. `put`:
   * what stands for which secret, in headers and the address; a tunnel to such a host is opened, and what comes in it is asked
   * for request by request.
   */
  | { allow: true; headers?: Record<string, string>; scheme?: 'http' | 'https'; put?: readonly Put[] }
  | { allow: false; reason: string }

export interface Gate {
  /** Asked for every request and every tunnel. A rejection counts as a refusal. */
  decide(out: Outgoing): Promise<Verdict>
}

/** How the proxy dials: checks the address at connect time. Given by `wire/src/outbound.ts`. */
export type Dial = (host: string, port: number, signal: AbortSignal) => Promise<import('node:net').Socket>

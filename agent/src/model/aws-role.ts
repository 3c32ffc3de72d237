import type { Clock } from '@parley/store/clock'
import { AwsClient } from 'aws4fetch'
import { ModelError } from './model.ts'

/* Temporary credentials of a role, asked for with the credentials of the configuration and renewed before they end. */

export interface AwsCredentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

export interface RoleAsked {
  role: string
  session: string
  region: string
  own: AwsCredentials
}

const askMs = 15_000
/** So long before their end they are no longer used. */
const marginMs = 5 * 60_000
const mostCharacters = 64 * 1024

export function roleCredentials(asked: RoleAsked, fetch: typeof globalThis.fetch, clock: Clock) {
  let held: { credentials: AwsCredentials; until: number } | null = null
  return async (): Promise<AwsCredentials> => {
    if (held === null || held.until - marginMs <= clock.millis()) held = await assumed(asked, fetch)
    return held.credentials
  }
}

async function assumed({ role, session, region, own }: RoleAsked, fetch: typeof globalThis.fetch) {
  const signer = new AwsClient({ ...own, service: 'sts', region, retries: 0 })
  const host = `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`
  const words = { Action: 'AssumeRole', Version: '2011-06-15', RoleArn: role, RoleSessionName: session }
  const { url, headers } = await signer.sign(host, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(words).toString(),
  })
  const signal = AbortSignal.timeout(askMs)
  const body = new URLSearchParams(words).toString()
  const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal }).catch(
    (error: unknown) => {
      throw new ModelError('transient', `The token service of AWS could not be reached: ${String(error)}`)
    },
  )
  const text = (await answer.text()).slice(0, mostCharacters)
  if (!answer.ok) {
    const why = member(text, 'Message') ?? `it answered ${answer.status}`
    throw new ModelError(answer.status >= 500 ? 'transient' : 'auth', `The role ${role} could not be taken: ${why}`)
  }
  return credentialsIn(text)
}

function credentialsIn(text: string) {
  const accessKeyId = member(text, 'AccessKeyId')
  const secretAccessKey = member(text, 'SecretAccessKey')
  const sessionToken = member(text, 'SessionToken')
  const until = Date.parse(member(text, 'Expiration') ?? '')
  if (accessKeyId === null || secretAccessKey === null || sessionToken === null || Number.isNaN(until))
    throw new ModelError('transient', 'The token service of AWS gave no credentials.')
  return { credentials: { accessKeyId, secretAccessKey, sessionToken }, until }
}

/** The answer is a short XML document in which these names stand once, with texts that need no unescaping. */
const member = (xml: string, name: string): string | null =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]?.trim() ?? null

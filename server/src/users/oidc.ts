import * as client from 'openid-client'
import type { OidcConfig } from '../config.ts'

/** The operator's identity provider: sends people there, and learns from it who came back. */

/** What must be the same when a person comes back. Secret until then. */
export interface SsoChecks {
  state: string
  nonce: string
  verifier: string
}

export interface SsoPerson {
  /** Issuer and subject: this person for good, whatever the e-mail. */
  subject: string
  email: string | null
  isVerified: boolean
  name: string | null
}

export type Oidc = ReturnType<typeof openOidc>

const seconds = 10

/** As the provider lists it; where it says nothing, the standard's default. */
const secretAuth = (secret: string): client.ClientAuth => {
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)]
  return (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: methods } = server
    const isBasic = methods === undefined || methods.includes('client_secret_basic')
    return (isBasic ? basic : post)(server, ...rest)
  }
}

export function openOidc({ issuer, clientId, clientSecret }: OidcConfig, redirectUri: string) {
  let known: Promise<client.Configuration> | undefined

  async function discover(): Promise<client.Configuration> {
    const auth = clientSecret === null ? client.None() : secretAuth(clientSecret)
    const execute = issuer.startsWith('http:') ? [client.allowInsecureRequests] : []
    return client.discovery(new URL(issuer), clientId, undefined, auth, { timeout: seconds, execute })
  }

  /** Asked for once; again when the provider could not be reached. */
  function provider(): Promise<client.Configuration> {
    known ??= discover().catch((error: unknown) => {
      known = undefined
      throw error
    })
    return known
  }

  return {
    /** The address to send a person to. Rejects when the provider cannot be reached. */
    async start(): Promise<{ location: string; checks: SsoChecks }> {
      const [state, nonce, verifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()]
      const location = client.buildAuthorizationUrl(await provider(), {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      return { location: location.href, checks: { state, nonce, verifier } }
    },

    /** Who came back with this query. Rejects for whatever is not as it must be. */
    async finish(query: URLSearchParams, { state, nonce, verifier }: SsoChecks): Promise<SsoPerson> {
      const config = await provider()
      const tokens = await client.authorizationCodeGrant(config, new URL(`${redirectUri}?${query}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('the provider sent no id token')
      const isWhole = typeof claims.email === 'string' && claims.email_verified !== undefined
      const told = isWhole ? claims : await client.fetchUserInfo(config, tokens.access_token, claims.sub)
      return {
        subject: `${claims.iss} ${claims.sub}`,
        email: typeof told.email === 'string' ? told.email.toLowerCase() : null,
        isVerified: told.email_verified === true,
        name: typeof told.name === 'string' ? told.name.slice(0, 255) : null,
      }
    },
  }
}

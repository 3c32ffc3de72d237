import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@parley/store/clock'
import { ask, failure, modelAt, user } from './conformance.ts'

/* The credentials of a role: asked for with those of the configuration, used for the model, and kept until they end. */

const config = {
  model: 'bedrock/anthropic.claude-sonnet-4-5-v1:0',
  cloud_region_name: 'us-east-1',
  cloud_access_key_id: 'AKIAOWN0123',
  cloud_secret_access_key: 'own-secret',
  cloud_role_name: 'arn:aws:iam::1:role/model',
  cloud_session_name: 'ada',
}
const granted = (minutes: number) => `<AssumeRoleResponse><AssumeRoleResult><Credentials>
  <AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>role-secret</SecretAccessKey><SessionToken>role-token</SessionToken>
  <Expiration>${new Date(Date.now() + minutes * 60_000).toISOString()}</Expiration>
</Credentials></AssumeRoleResult></AssumeRoleResponse>`

/** What was asked for; the token service answers `xml`, the model fails. */
function world(xml: string, status = 200) {
  const asked: { url: string; headers: Headers; body: string }[] = []
  const fetch = async (url: string | URL | Request, init?: RequestInit) => {
    asked.push({ url: String(url), headers: new Headers(init?.headers), body: String(init?.body) })
    if (String(url).startsWith('https://sts.')) return new Response(xml, { status })
    return new Response('{}', { status: 500 })
  }
  return { asked, model: modelAt(config, { fetch, clock: systemClock }) }
}

test('a role is taken once, and its credentials sign the calls of the model', async () => {
  const { asked, model } = world(granted(60))
  await failure(ask(model, [user('Hi.')]))
  await failure(ask(model, [user('Hi.')]))
  assert.deepEqual(
    asked.map(({ url }) => new URL(url).host),
    [
      'sts.us-east-1.amazonaws.com',
      'bedrock-runtime.us-east-1.amazonaws.com',
      'bedrock-runtime.us-east-1.amazonaws.com',
    ],
  )
  const [sts, call] = asked
  const words = Object.fromEntries(new URLSearchParams(sts?.body))
  assert.deepEqual(
    [words['Action'], words['RoleArn'], words['RoleSessionName']],
    ['AssumeRole', config.cloud_role_name, 'ada'],
  )
  assert.match(sts?.headers.get('authorization') ?? '', /Credential=AKIAOWN0123\/\d+\/us-east-1\/sts\//)
  assert.match(call?.headers.get('authorization') ?? '', /Credential=ASIAROLE\/\d+\/us-east-1\/bedrock\//)
  assert.equal(call?.headers.get('x-amz-security-token'), 'role-token')
})

test('credentials that end soon are asked for again', async () => {
  const { asked, model } = world(granted(4))
  await failure(ask(model, [user('Hi.')]))
  await failure(ask(model, [user('Hi.')]))
  assert.ok(asked.filter(({ url }) => url.includes('sts')).length >= 2)
})

test('a role that may not be taken is a failure of the key that says why', async () => {
  const refused =
    '<ErrorResponse><Error><Code>AccessDenied</Code><Message>not authorized</Message></Error></ErrorResponse>'
  const error = await failure(ask(world(refused, 403).model, [user('Hi.')]))
  assert.equal(error.kind, 'auth', error.message)
  assert.match(error.message, /could not be taken: not authorized/)
  assert.equal((await failure(ask(world('', 503).model, [user('Hi.')]))).kind, 'transient')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outgoing } from '@parley/sandbox/egress'
import { policyFor } from './egress.ts'
import { refusals } from './refusals.ts'

test('a conversation decides before the settings, they before the server, and nobody gets more than the server allows', () => {
  const server: Parameters<typeof policyFor>[0] = { policy: 'allowlist', most: 'open', hosts: [] }
  const unsaid = { egress_policy: null }
  assert.equal(policyFor(server, unsaid, ['settings']), 'allowlist')
  assert.equal(policyFor(server, { egress_policy: 'none' }, ['settings']), 'none')
  assert.equal(policyFor(server, { egress_policy: 'none' }, ['open']), 'open')
  assert.equal(policyFor({ ...server, most: 'allowlist' }, { egress_policy: 'open' }, ['open']), 'allowlist')
  // Two that share a sandbox share its network.
  assert.equal(policyFor(server, unsaid, ['open', 'settings']), 'allowlist')
  assert.equal(policyFor(server, { egress_policy: 'open' }, ['none', 'open']), 'none')
  assert.equal(policyFor(server, { egress_policy: 'open' }, []), 'open')
})

const out = (host: string): Outgoing => ({
  sandboxId: 's',
  scheme: 'https',
  host,
  port: 443,
  method: null,
  path: null,
})

test('a refused host is told once an hour, and of many only so many', () => {
  let now = 0
  const told: string[] = []
  const refused = refusals({
    clock: { millis: () => now },
    tell: (sandbox, detail) => told.push(`${sandbox} ${detail}`),
  })
  for (let at = 0; at < 100; at++) refused('s', out('a.test'), 'no.')
  assert.deepEqual(told, ['s The network refused a.test:443: no.'])
  refused('other', out('a.test'), 'no.')
  assert.equal(told.length, 2)
  for (let at = 0; at < 1_000; at++) refused('s', out(`${at}.test`), 'no.')
  assert.equal(told.length, 22)
  assert.match(told.at(-1) ?? '', /Many more/)
  now += 3_600_001
  refused('s', out('a.test'), 'no.')
  assert.equal(told.length, 23)
})

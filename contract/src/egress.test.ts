import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HostPattern, hostMatches, strictest } from './egress.ts'

test('a host pattern is a host, or the names below one, with a port or those of the web', () => {
  const cases: [string, string, number, boolean][] = [
    ['api.example.org', 'api.example.org', 443, true],
    ['api.example.org', 'api.example.org', 80, true],
    ['api.example.org', 'api.example.org', 8443, false],
    ['api.example.org', 'x.api.example.org', 443, false],
    ['api.example.org:8443', 'api.example.org', 8443, true],
    ['api.example.org:8443', 'api.example.org', 443, false],
    ['*.example.org', 'a.b.example.org', 443, true],
    ['*.example.org', 'example.org', 443, false],
    ['*.example.org', 'evilexample.org', 443, false],
  ]
  for (const [said, host, port, is] of cases) assert.equal(hostMatches(said, host, port), is, `${said} ${host}:${port}`)
  assert.equal(HostPattern.parse('API.Example.org'), 'api.example.org')
  for (const wrong of ['*', '*.org', 'a.*.org', 'https://a.org', 'a.org/x', 'a b', '', 'a.org:x', 'a.org\n'])
    assert.equal(HostPattern.safeParse(wrong).success, false, wrong)
})

test('of several policies the strictest counts', () => {
  assert.equal(strictest('open', 'allowlist'), 'allowlist')
  assert.equal(strictest('allowlist', 'none', 'open'), 'none')
})

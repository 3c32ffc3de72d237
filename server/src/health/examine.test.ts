import assert from 'node:assert/strict'
import { test } from 'node:test'
import { examineServer, listLimits } from '@parley/contract/health'
import { openTestServer } from '../testing.ts'

test('the owner has the server examined: database, disk and sandboxes; nobody else', async () => {
  await using server = await openTestServer()
  const ada = await server.as('ada')
  await assert.rejects(ada(examineServer), { code: 'insufficient_scope' })
  const { id: owner } = await server.server.users.ensureOwner()
  const { key } = await server.server.access.createKey(owner, { name: 'owner' })
  const found = await ada(examineServer, { headers: { authorization: `Bearer ${key}` } })
  const checks = found.map(({ check }) => check)
  assert.deepEqual(checks.slice(0, 2), ['database', 'disk'])
  assert.ok(checks.length > 2, 'what the sandboxes need is looked at too')
  assert.deepEqual(
    found.filter(({ ok, fatal }) => fatal && !ok),
    [],
  )
})

test('the bounds of the server are listed as a limits file names them', async () => {
  await using server = await openTestServer()
  const limits = await (await server.as('ada'))(listLimits)
  const per = (name: string) => limits.find((one) => one.name === name)
  assert.deepEqual(per('sandbox.memory'), { name: 'sandbox.memory', value: '2GiB', is_default: true })
  assert.deepEqual(per('rates.start.per'), { name: 'rates.start.per', value: '1m', is_default: true })
})

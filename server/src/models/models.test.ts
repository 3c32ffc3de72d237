import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { openCursor } from '@parley/store/page'
import { modelService } from './service.ts'

const models = modelService({
  cursor: openCursor([randomBytes(32)]),
  settings: { stored: () => assert.fail('a search reads no settings') },
  tryModel: () => assert.fail('a search tries no model'),
})

test('the model that needs no key is the first, and verified ones come before the others', () => {
  const { items } = models.search({ limit: 100 })
  assert.deepEqual(items[0], { provider: 'parley', name: 'demo', verified: true })
  const firstOther = items.findIndex((model) => !model.verified)
  assert.ok(items.slice(firstOther).every((model) => !model.verified))
})

test('pages of models together are the whole list, each model once', () => {
  const seen: string[] = []
  let page_id: string | undefined
  do {
    const page = models.search({ limit: 100, page_id })
    seen.push(...page.items.map(({ provider, name }) => `${provider}/${name}`))
    page_id = page.next_page_id ?? undefined
  } while (page_id !== undefined)
  assert.ok(seen.length > 200)
  assert.equal(new Set(seen).size, seen.length)
})

test('a search of models is by part of the name in any case, by provider and by what is verified', () => {
  const { items } = models.search({ query: 'CLAUDE', provider__eq: 'anthropic', verified__eq: true, limit: 100 })
  assert.ok(items.length > 0)
  assert.ok(
    items.every(({ provider, name, verified }) => provider === 'anthropic' && name.includes('claude') && verified),
  )
  assert.deepEqual(models.search({ query: 'no such model', limit: 10 }), { items: [], next_page_id: null })
})

test('a page id of models is good for the same search only', () => {
  const { next_page_id } = models.search({ limit: 1 })
  const page_id = next_page_id ?? assert.fail('a second page was expected')
  assert.throws(() => models.search({ limit: 1, page_id, query: 'gpt' }), { code: 'malformed_page_id' })
  assert.throws(() => models.providers({ limit: 1, page_id }), { code: 'malformed_page_id' })
})

test('providers are listed once, verified ones first and then by name', () => {
  const { items } = models.providers({ limit: 100 })
  const names = items.filter((one) => one.verified).map((one) => one.name)
  assert.ok(names.includes('parley') && names.includes('anthropic'))
  assert.deepEqual(names, names.toSorted())
  assert.equal(new Set(items.map((one) => one.name)).size, items.length)
  assert.ok(items.slice(names.length).every((one) => !one.verified))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { de } from './de.ts'
import { en } from './en.ts'
import { languageOf } from './language.ts'
import type { Key, Translation } from './message.ts'
import { type Language, speak, t } from './translate.ts'

const all: Record<Exclude<Language, 'en'>, Translation> = { de }
const keys = Object.keys(en) as Key[]
const texts = (message: Translation[Key]): string[] =>
  typeof message === 'string' ? [message] : (Object.values(message) as string[])
const holes = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([hole]) => hole).toSorted()
const usedIn = (message: Translation[Key]) => [...new Set(texts(message).flatMap(holes))].toSorted()

for (const [language, table] of Object.entries(all))
  test(`everything the page says can be said in ${language}, with the same holes`, () => {
    assert.deepEqual(Object.keys(table).toSorted(), keys.toSorted())
    for (const key of keys) {
      assert.ok(
        texts(table[key]).every((text) => text.trim() !== ''),
        `${key} is empty`,
      )
      assert.deepEqual(usedIn(table[key]), usedIn(en[key]), key)
    }
  })

test('a text has its holes filled, in the language that was chosen', async () => {
  assert.equal(t('shell.account-of', { name: 'Ada {what}' }), 'Account of Ada {what}')
  await speak('de')
  assert.equal(t('shell.account-of', { name: 'Ada' }), 'Konto von Ada')
  await speak('en')
})

test('a language is found by its tag, with or without a region', () => {
  assert.equal(languageOf('de-AT'), 'de')
  assert.equal(languageOf('EN'), 'en')
  assert.equal(languageOf('fr'), undefined)
})

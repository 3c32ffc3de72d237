import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { AppConversation } from '@parley/contract/conversations'
import { LlmOptions } from '@parley/contract/llm-config'
import { getMe } from '@parley/contract/users'

/* How much script comes before the first page can be used. The tests have built the page. */

const dist = fileURLToPath(new URL('../../web/dist/', import.meta.url))
const most = 250 * 1000

const read = (name: string): string => readFileSync(`${dist}assets/${name}`, 'utf8')

/** A script and all that it cannot begin without: imports that stand outside a function. */
function needed(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const [, path = ''] of read(name).matchAll(/(?:\bfrom|\bimport)\s*["']\.\/([\w.-]+\.js)["']/g))
    needed(path, found)
  return found
}

const begun = [...readFileSync(`${dist}index.html`, 'utf8').matchAll(/assets\/([\w.-]+\.js)/g)].map(
  ([, name = '']) => name,
)
const first = new Set(begun.flatMap((name) => [...needed(name)]))

test('the first page needs at most 250 KB of compressed script', () => {
  assert.ok(begun.length > 0)
  const sizes = [...first].map((name) => [name, gzipSync(read(name)).length] as const)
  const sum = sizes.reduce((total, [, size]) => total + size, 0)
  assert.ok(sum <= most, `${sum} bytes: ${sizes.map(([name, size]) => `${name} ${size}`).join(', ')}`)
})

test('what only a conversation needs comes with it', () => {
  const later = readdirSync(`${dist}assets`).filter((name) => /^(Conversation|Markdown|TextDiff|Terminal)-/.test(name))
  assert.deepEqual(
    later.filter((name) => first.has(name)),
    [],
  )
  assert.ok(later.length >= 4)
})

test('what the contract says in words for its readers is in no script', () => {
  const words = [
    getMe.summary,
    LlmOptions.shape.drop_params.description ?? '',
    AppConversation.shape.last_seq.description ?? '',
  ]
  for (const one of words) assert.ok(one.length > 10, one)
  const scripts = readdirSync(`${dist}assets`).filter((name) => name.endsWith('.js'))
  for (const name of scripts) for (const one of words) assert.ok(!read(name).includes(one), `${name}: ${one}`)
})

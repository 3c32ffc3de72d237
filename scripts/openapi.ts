/* Writes docs/openapi/v1.json from the contract; with --check it only says whether the file is what would be written. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { documentText } from '@parley/server/docs/document'

const file = fileURLToPath(new URL('../docs/openapi/v1.json', import.meta.url))
const wanted = documentText()

function found(): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

if (process.argv.includes('--check')) {
  const same = found() === wanted
  console.log(
    same ? 'docs/openapi/v1.json is what the contract says' : 'docs/openapi/v1.json differs: node scripts/openapi.ts',
  )
  process.exitCode = same ? 0 : 1
} else {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, wanted)
  console.log(`${file} written`)
}

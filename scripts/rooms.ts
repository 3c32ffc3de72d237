/* The walls of the house (docs/architecture.md), checked: `npm run check` runs it. */
import { fileURLToPath } from 'node:url'
import { readSources } from './sources.ts'
import { breaches } from './walls.ts'

const root = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url))
const sources = readSources(root)
const found = breaches(sources)
for (const { path, line, wall, says } of found) console.log(`${path}:${line} ${wall}: ${says}`)
const broken = found.filter(({ wall }) => wall !== 'look').length
console.log(`${sources.length} files, ${broken} breaches`)
process.exitCode = broken === 0 ? 0 : 1

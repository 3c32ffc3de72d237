import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

const built = resolve(import.meta.dirname, '../../web/dist')
const plain = resolve(import.meta.dirname, '../../web/public')

/** Where the page's files are: built, or the few that need no building. */
export const pageFolder = (): string => (existsSync(resolve(built, 'index.html')) ? built : plain)

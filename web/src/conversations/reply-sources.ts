import { client } from '../api.ts'
import type { Sources, Suggestion } from './suggest.ts'

/* What the answer to an agent can name: skills of the conversation after `/`, files of its workspace after `@`. */

/** Those in the folder that was written so far. */
async function files(id: string, words: string): Promise<Suggestion[]> {
  const folder = words.slice(0, Math.max(0, words.lastIndexOf('/')))
  const query = { path: folder === '' ? '.' : folder, limit: 1000 }
  const found = await client.conversations.files({ params: { id }, query })
  return found.files
    .map(({ path, kind }) => (kind === 'folder' ? `${path}/` : path))
    .filter((path) => path.toLowerCase().startsWith(words.toLowerCase()))
    .map((path) => ({ value: `@${path}` }))
}

async function skills(id: string, words: string): Promise<Suggestion[]> {
  const found = await client.conversations.skills({ params: { id } })
  return found.skills
    .filter(({ name }) => name.toLowerCase().includes(words.toLowerCase()))
    .map(({ name, triggers }) => ({
      value: triggers.find((trigger) => trigger.startsWith('/')) ?? `/${name}`,
      note: name,
    }))
}

export const replySources = (id: string): Sources => ({
  '/': { key: ['skills', id], search: (words) => skills(id, words) },
  '@': { key: ['files', id], search: (words) => files(id, words) },
})

import { client } from '../api.ts'
import { t } from '../i18n/translate.ts'
import type { Sources, Suggestion } from './suggest.ts'

/* What the answer to an agent can name: what the page does itself and skills of the conversation after `/`, files of its workspace after `@`. */

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

/** What the page does itself, by the word after the slash. */
export const ownCommands = ['ask', 'condense'] as const
export type OwnCommand = (typeof ownCommands)[number]

/** The command that a text begins with, and what stands after it. */
export function commandIn(text: string): { name: OwnCommand; words: string } | null {
  const [, word, words = ''] = /^\s*\/(\w+)(?:\s+([\s\S]*))?$/.exec(text) ?? []
  const name = ownCommands.find((one) => one === word)
  return name === undefined ? null : { name, words: words.trim() }
}

/** A question is written after its word; the other is done at once. */
const own = (words: string, condense: () => void): Suggestion[] =>
  [
    { value: '/ask', note: t('reply.command.ask') },
    { value: '/condense', note: t('reply.command.condense'), act: condense },
  ].filter(({ value }) => value.startsWith(`/${words.toLowerCase()}`))

export const replySources = (id: string, condense: () => void): Sources => ({
  '/': {
    key: ['skills', id],
    // Without its skills the page's own are there still.
    search: async (words) => [...own(words, condense), ...(await skills(id, words).catch(() => []))],
  },
  '@': { key: ['files', id], search: (words) => files(id, words) },
})

import { z } from 'zod'

const dashed = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const withoutDashes = /^[0-9a-f]{32}$/

/** The one form ids have in answers: a lower-case, dashed UUID. Undefined when the text is no UUID. */
export function canonicalId(text: string): string | undefined {
  const id = text.toLowerCase()
  if (dashed.test(id)) return id
  if (!withoutDashes.test(id)) return undefined
  return [id.slice(0, 8), id.slice(8, 12), id.slice(12, 16), id.slice(16, 20), id.slice(20)].join('-')
}

/** An id in an answer. */
export const Id = z.uuid().meta({ description: 'UUID (version 7), lower case with dashes.' })

/** An id in a request: upper case and undashed forms are accepted and made canonical. */
export const IdInput = z
  .string()
  .max(64)
  .transform((text, ctx) => {
    const id = canonicalId(text)
    if (id !== undefined) return id
    ctx.addIssue({ code: 'custom', message: 'must be a UUID', params: { malformed_id: true } })
    return z.NEVER
  })
  .meta({ description: 'UUID, with or without dashes, in any case.' })

/** `ids=a&ids=b`, `ids=a,b` or `id=…`: wire makes one array of them before this schema sees it. */
export const idList = (max: number) =>
  z
    .array(IdInput)
    .min(1)
    .max(max)
    .meta({ description: `At most ${max}, repeated or with commas between; \`id\` is another name for it.` })

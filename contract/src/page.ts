import { z } from 'zod'

/** Where to go on reading. Opaque and signed: a text that we did not issue for this very query is refused. */
export const PageId = z
  .string()
  .min(1)
  .max(1024)
  .meta({ description: '`next_page_id` of the page before, with the same filters and order.' })

/** Query fields of every search. `limit` is 1–100. */
export const pageQuery = (limit: number) => ({
  page_id: PageId.optional(),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .default(limit)
    .meta({ description: 'How many items a page has at most.' }),
})

/** `{items, next_page_id}`; `next_page_id` is null on the last page. */
export const page = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item).meta({ description: 'What is on this page.' }),
    next_page_id: z
      .string()
      .nullable()
      .meta({ description: 'Asks for the next page as `page_id`; null: this is the last one.' }),
  })

export interface Page<T> {
  items: T[]
  next_page_id: string | null
}

/** A query boolean: true/false/1/0/yes/no/on/off in any case. */
export const QueryBoolean = z.stringbool({
  truthy: ['true', '1', 'yes', 'on'],
  falsy: ['false', '0', 'no', 'off'],
})

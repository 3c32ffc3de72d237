import { z } from 'zod'
import { described } from './described.ts'
import { endpoint } from './endpoint.ts'
import { exampleIds } from './examples.ts'
import { Id } from './id.ts'
import { QueryBoolean } from './page.ts'
import { User } from './users.ts'

/** What calls of models have used. `prompt_tokens` includes cache reads; a call without a known price costs nothing here. */
export const UsageSum = z
  .object(
    described(
      {
        calls: z.int().min(0),
        cost: z.number().min(0).meta({ description: 'US dollars.' }),
        prompt_tokens: z.int().min(0),
        completion_tokens: z.int().min(0),
        cache_read_tokens: z.int().min(0),
      },
      {
        calls: 'Calls of models.',
        prompt_tokens: 'Cache reads among them.',
        completion_tokens: 'Tokens of the answers.',
        cache_read_tokens: 'Tokens of prompts that the provider had in its cache.',
      },
    ),
  )
  .meta({ id: 'UsageSum' })
export type UsageSum = z.infer<typeof UsageSum>

/** Each list has what costs most first, but for the days, which are all there, oldest first. */
export const UsageReport = z
  .object(
    described(
      {
        total: UsageSum,
        days: z.array(z.object({ day: z.iso.date().meta({ description: 'In UTC.' }), ...UsageSum.shape })),
        models: z.array(z.object({ model: z.string().meta({ description: '`provider/model`.' }), ...UsageSum.shape })),
        conversations: z.array(
          z.object({
            conversation_id: Id,
            title: z.string().nullable().meta({ description: 'Null when it is deleted.' }),
            ...UsageSum.shape,
          }),
        ),
        people: z.array(z.object({ user_id: Id, name: User.shape.name, email: User.shape.email, ...UsageSum.shape })),
      },
      {
        total: 'All of it.',
        days: 'By day, oldest first.',
        models: 'By model, what costs most first.',
        conversations: 'By conversation, what costs most first.',
        people: 'By person, what costs most first; empty unless `everyone`.',
      },
    ),
  )
  .meta({ id: 'UsageReport' })
export type UsageReport = z.infer<typeof UsageReport>

const sum = { calls: 2, cost: 0.0131, prompt_tokens: 5200, completion_tokens: 310, cache_read_tokens: 4096 }

export const getUsage = endpoint({
  method: 'GET',
  path: '/api/v1/usage',
  summary: 'Get what models have cost',
  description:
    'Cost and tokens of the last days (UTC, today too): in all, by day, by model and by conversation (of the last two ' +
    'the fifty that cost most). What a deleted conversation has cost still counts. `everyone`, for the owner of the server: ' +
    'of all people, and by person.',
  access: 'conversations:read',
  query: z.object({
    days: z.coerce
      .number()
      .int()
      .min(1)
      .max(366)
      .default(30)
      .meta({ description: 'How many days back, today among them.' }),
    everyone: QueryBoolean.default(false).meta({ description: 'Of all people; for the owner of the server.' }),
  }),
  returns: UsageReport,
  fails: ['insufficient_scope'],
  example: {
    returns: {
      total: sum,
      days: [{ day: '2026-11-21', ...sum }],
      models: [{ model: 'openai/gpt-5', ...sum }],
      conversations: [{ conversation_id: exampleIds.conversation, title: 'Parser tests', ...sum }],
      people: [],
    },
  },
})

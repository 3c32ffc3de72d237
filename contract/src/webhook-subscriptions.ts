import { z } from 'zod'
import { described, done } from './described.ts'
import { endpoint } from './endpoint.ts'
import { exampleIds, exampleTime } from './examples.ts'
import { Id, IdInput } from './id.ts'
import { page, pageQuery } from './page.ts'
import { WebAddress, line } from './text.ts'
import { Timestamp } from './time.ts'

/*
 * Webhooks out: Parley calls an address when something happens. Each call is signed (Standard Webhooks: `webhook-id`,
 * `webhook-timestamp`, `webhook-signature`), retried with growing delays, and kept in a log from which it can be sent
 * again.
 */

export const webhookTypes = [
  'conversation.started',
  'conversation.start_failed',
  'conversation.status_changed',
  'conversation.finished',
  'conversation.deleted',
  'conversation.event',
  'sandbox.status_changed',
] as const
export const WebhookType = z.enum(webhookTypes).meta({ id: 'WebhookType', description: 'What happened.' })
export type WebhookType = z.infer<typeof WebhookType>

/** `paused_reason`: why Parley stopped calling by itself, for instance because every call failed for days. */
export const WebhookSubscription = z
  .object(
    described(
      {
        id: Id,
        name: z.string().nullable(),
        url: z.string(),
        types: z.array(WebhookType),
        conversation_id: Id.nullable(),
        enabled: z.boolean(),
        paused_reason: z.string().nullable(),
        created_at: Timestamp,
        updated_at: Timestamp,
      },
      {
        url: 'Is called with a POST for each message.',
        conversation_id: 'Only of this conversation; null: of all.',
        paused_reason: 'Why Parley stopped calling by itself.',
        name: 'To tell it from others.',
        types: 'What it is called for.',
        enabled: 'False: nothing is sent.',
      },
    ),
  )
  .meta({ id: 'WebhookSubscription' })
export type WebhookSubscription = z.infer<typeof WebhookSubscription>

/** The answer that shows the signing secret, once: `whsec_` and base64. */
export const NewWebhookSubscription = z
  .object({
    ...WebhookSubscription.shape,
    secret: z.string().meta({ description: '`whsec_` and base64; shown this once.' }),
  })
  .meta({ id: 'NewWebhookSubscription' })
export type NewWebhookSubscription = z.infer<typeof NewWebhookSubscription>

export const WebhookSubscriptionPage = page(WebhookSubscription).meta({ id: 'WebhookSubscriptionPage' })
export type WebhookSubscriptionPage = z.infer<typeof WebhookSubscriptionPage>

const fields = described(
  {
    name: line(1, 255).nullable(),
    url: WebAddress,
    types: z.array(WebhookType).min(1).max(webhookTypes.length),
    conversation_id: IdInput.nullable(),
    enabled: z.boolean(),
  },
  {
    name: 'To tell it from others.',
    url: 'Is called with a POST for each message.',
    types: 'What it shall be called for.',
    conversation_id: 'Only of this conversation; null: of all.',
    enabled: 'False: nothing is sent. True clears the reason for which it was paused.',
  },
)

export const WebhookSubscriptionRequest = z
  .object({
    name: fields.name.default(null),
    url: fields.url,
    types: fields.types,
    conversation_id: fields.conversation_id.default(null),
    enabled: fields.enabled.default(true),
  })
  .meta({ id: 'WebhookSubscriptionRequest' })
export type WebhookSubscriptionRequest = z.infer<typeof WebhookSubscriptionRequest>

export const WebhookSubscriptionUpdate = z.object(fields).partial().meta({ id: 'WebhookSubscriptionUpdate' })
export type WebhookSubscriptionUpdate = z.infer<typeof WebhookSubscriptionUpdate>

export const WebhookDelivery = z
  .object(
    described(
      {
        id: Id,
        subscription_id: Id,
        type: WebhookType,
        status: z.enum(['pending', 'delivered', 'failed']),
        attempts: z.int().min(0),
        response_status: z.int().nullable(),
        error: z.string().nullable(),
        created_at: Timestamp,
        next_attempt_at: Timestamp.nullable(),
        delivered_at: Timestamp.nullable(),
      },
      {
        type: 'What it tells.',
        status: '`failed`: it is not tried again by itself.',
        attempts: 'How often it was sent.',
        response_status: 'The HTTP status of the last answer; null: there was none.',
        error: 'Why the last attempt failed.',
        next_attempt_at: 'Null: it is not tried again by itself.',
        delivered_at: 'Null: not yet.',
      },
    ),
  )
  .meta({ id: 'WebhookDelivery' })
export type WebhookDelivery = z.infer<typeof WebhookDelivery>

export const WebhookDeliveryPage = page(WebhookDelivery).meta({ id: 'WebhookDeliveryPage' })
export type WebhookDeliveryPage = z.infer<typeof WebhookDeliveryPage>

/** What an address is sent. */
export const WebhookCall = z
  .object({ type: WebhookType, timestamp: Timestamp, data: z.record(z.string(), z.unknown()) })
  .meta({ id: 'WebhookCall' })
export type WebhookCall = z.infer<typeof WebhookCall>

const exampleSubscription = {
  id: exampleIds.task,
  name: 'Build server',
  url: 'https://build.example/hooks/parley',
  types: ['conversation.finished' as const],
  conversation_id: null,
  enabled: true,
  paused_reason: null,
  created_at: exampleTime,
  updated_at: exampleTime,
}
const exampleDelivery = {
  id: exampleIds.conversation,
  subscription_id: exampleIds.task,
  type: 'conversation.finished' as const,
  status: 'delivered' as const,
  attempts: 1,
  response_status: 204,
  error: null,
  created_at: exampleTime,
  next_attempt_at: null,
  delivered_at: exampleTime,
}
const OneSubscription = z.object({ id: IdInput })
const one = ['not_found', 'malformed_id'] as const

export const searchWebhookSubscriptions = endpoint({
  method: 'GET',
  path: '/api/v1/webhook-subscriptions',
  summary: 'Search webhook subscriptions',
  description: 'The caller\u2019s subscriptions, newest first.',
  access: 'settings:read',
  query: z.object(pageQuery(100)),
  returns: WebhookSubscriptionPage,
  fails: ['malformed_page_id'],
  example: { returns: { items: [exampleSubscription], next_page_id: null } },
})

export const createWebhookSubscription = endpoint({
  method: 'POST',
  path: '/api/v1/webhook-subscriptions',
  summary: 'Subscribe an address',
  description: 'The answer has the signing secret, which is not shown again.',
  access: 'settings:write',
  body: WebhookSubscriptionRequest,
  returns: NewWebhookSubscription,
  status: 201,
  fails: ['not_found'],
  example: {
    body: { name: 'Build server', url: 'https://build.example/hooks/parley', types: ['conversation.finished'] },
    returns: { ...exampleSubscription, secret: 'whsec_ZXhhbXBsZQ==' },
  },
})

export const updateWebhookSubscription = endpoint({
  method: 'PATCH',
  path: '/api/v1/webhook-subscriptions/{id}',
  summary: 'Change a webhook subscription',
  description: 'Only what is sent changes. Enabling it again clears the reason for which it was paused.',
  access: 'settings:write',
  params: OneSubscription,
  body: WebhookSubscriptionUpdate,
  returns: WebhookSubscription,
  fails: one,
  example: { body: { enabled: false }, returns: { ...exampleSubscription, enabled: false } },
})

export const deleteWebhookSubscription = endpoint({
  method: 'DELETE',
  path: '/api/v1/webhook-subscriptions/{id}',
  summary: 'Delete a webhook subscription',
  description: 'Calls that were not delivered yet are dropped.',
  access: 'settings:write',
  params: OneSubscription,
  returns: z.object({ success: done }),
  fails: one,
  example: { returns: { success: true } },
})

export const rotateWebhookSecret = endpoint({
  method: 'POST',
  path: '/api/v1/webhook-subscriptions/{id}/rotate',
  summary: 'Replace the signing secret',
  description: 'For 24 h calls are signed with both secrets.',
  access: 'settings:write',
  params: OneSubscription,
  returns: NewWebhookSubscription,
  status: 201,
  fails: one,
  example: { returns: { ...exampleSubscription, secret: 'whsec_ZXhhbXBsZQ==' } },
})

export const searchWebhookDeliveries = endpoint({
  method: 'GET',
  path: '/api/v1/webhook-subscriptions/{id}/deliveries',
  summary: 'Search deliveries',
  description: 'What was sent to the address, newest first, and how it answered.',
  access: 'settings:read',
  params: OneSubscription,
  query: z.object({
    status__eq: WebhookDelivery.shape.status.optional().meta({ description: 'Only deliveries in this state.' }),
    ...pageQuery(100),
  }),
  returns: WebhookDeliveryPage,
  fails: [...one, 'malformed_page_id'],
  example: { returns: { items: [exampleDelivery], next_page_id: null } },
})

export const replayWebhookDelivery = endpoint({
  method: 'POST',
  path: '/api/v1/webhook-subscriptions/{id}/deliveries/{delivery_id}/replay',
  summary: 'Send a delivery again',
  description: 'The same body under the same `webhook-id`, at once.',
  access: 'settings:write',
  params: z.object({ id: IdInput, delivery_id: IdInput }),
  returns: WebhookDelivery,
  status: 202,
  fails: one,
  example: { returns: { ...exampleDelivery, status: 'pending', delivered_at: null, response_status: null } },
})

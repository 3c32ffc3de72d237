import {
  createWebhookSubscription,
  deleteWebhookSubscription,
  replayWebhookDelivery,
  rotateWebhookSecret,
  searchWebhookDeliveries,
  searchWebhookSubscriptions,
  updateWebhookSubscription,
} from '@parley/contract/webhook-subscriptions'
import { readForgeToken, reportConversation, reportEvents } from '@parley/contract/webhooks'
import { atOnce, serve } from '@parley/wire/serve'
import type { Reports } from './report.ts'
import type { Webhooks } from './service.ts'
import type { ForgeTokens } from './token.ts'

export const webhookRoutes = (reports: Reports, tokens: ForgeTokens, webhooks: Webhooks) => [
  serve(reportConversation, ({ who, body }) => reports.conversation(who, body)),
  serve(reportEvents, ({ who, params, body }) => reports.events(who, params.conversation_id, body)),
  atOnce(serve(readForgeToken, ({ who, query }) => tokens.read(who, query.provider))),
  serve(searchWebhookSubscriptions, ({ who, query }) => webhooks.search(who.owner, query)),
  atOnce(serve(createWebhookSubscription, ({ who, body }) => webhooks.create(who.owner, body))),
  atOnce(serve(updateWebhookSubscription, ({ who, params, body }) => webhooks.update(who.owner, params.id, body))),
  atOnce(serve(deleteWebhookSubscription, ({ who, params }) => webhooks.remove(who.owner, params.id))),
  atOnce(serve(rotateWebhookSecret, ({ who, params }) => webhooks.rotate(who.owner, params.id))),
  serve(searchWebhookDeliveries, ({ who, params, query }) => webhooks.deliveries(who.owner, params.id, query)),
  atOnce(serve(replayWebhookDelivery, ({ who, params }) => webhooks.replay(who.owner, params.id, params.delivery_id))),
]

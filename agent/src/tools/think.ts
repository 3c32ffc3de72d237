import { z } from 'zod'
import { observed } from './observation.ts'
import type { Tool } from './tool.ts'

const input = z.object({ thought: z.string() })

export const think: Tool<typeof input> = {
  name: 'think',
  aliases: ['ThinkTool'],
  description: 'Writes a thought down. Nothing else happens.',
  input,
  actionKind: 'ThinkAction',
  observationKind: 'ThinkObservation',
  readOnly: true,
  harmless: true,
  handless: true,
  resources: () => [],
  run: () => Promise.resolve(observed('ThinkObservation', 'Noted.')),
}

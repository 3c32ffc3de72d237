import { z } from 'zod'
import { observed } from './observation.ts'
import type { Tool } from './tool.ts'

const input = z.object({ message: z.string() })

export const finish: Tool<typeof input> = {
  name: 'finish',
  aliases: ['FinishTool'],
  description: 'Ends the work with a message to the user.',
  input,
  actionKind: 'FinishAction',
  observationKind: 'FinishObservation',
  readOnly: true,
  harmless: true,
  handless: true,
  resources: () => [],
  run: ({ message }) => Promise.resolve(observed('FinishObservation', message)),
}

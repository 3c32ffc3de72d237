import { z } from 'zod'
import { described, kindOf } from './described.ts'

/* The parts of a message. Unknown members are refused, so that a misspelt field is not lost in silence. */

export const TextContent = z
  .strictObject(
    described(
      { type: kindOf('text'), text: z.string(), cache_prompt: z.boolean().default(false) },
      { text: 'What is said.', cache_prompt: 'Kept for clients that set it; what is cached is decided here.' },
    ),
  )
  .meta({ id: 'TextContent' })
export type TextContent = z.infer<typeof TextContent>

/** Each image is an https address or a `data:` address with its bytes. */
export const ImageContent = z
  .strictObject(
    described(
      {
        type: kindOf('image'),
        image_urls: z.array(z.string().max(12_000_000)).min(1).max(20),
        cache_prompt: z.boolean().default(false),
      },
      {
        image_urls: 'Each an https address, or a `data:` address with the bytes.',
        cache_prompt: 'Kept for clients that set it; what is cached is decided here.',
      },
    ),
  )
  .meta({ id: 'ImageContent' })
export type ImageContent = z.infer<typeof ImageContent>

export const Content = z.discriminatedUnion('type', [TextContent, ImageContent])
export type Content = z.infer<typeof Content>

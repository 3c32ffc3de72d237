import { z } from 'zod'

/* The parts of a message. Unknown members are refused, so that a misspelt field is not lost in silence. */

export const TextContent = z
  .strictObject({ type: z.literal('text'), text: z.string(), cache_prompt: z.boolean().default(false) })
  .meta({ id: 'TextContent' })
export type TextContent = z.infer<typeof TextContent>

/** Each image is an https address or a `data:` address with its bytes. */
export const ImageContent = z
  .strictObject({
    type: z.literal('image'),
    image_urls: z.array(z.string().max(12_000_000)).min(1).max(20),
    cache_prompt: z.boolean().default(false),
  })
  .meta({ id: 'ImageContent' })
export type ImageContent = z.infer<typeof ImageContent>

export const Content = z.discriminatedUnion('type', [TextContent, ImageContent])
export type Content = z.infer<typeof Content>

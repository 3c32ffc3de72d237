import { z } from 'zod'

/* Names of images, as settings have them. */

/** Git, compilers and the usual programs. */
export const usualImage = 'buildpack-deps:bookworm'
export const imageReference = /^[a-z0-9][\w.-]*(:\d+)?(\/[\w.-]+)*(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/

/** Several, of which the first is the usual one. */
export const Images = z.string().transform((text, context) => {
  const images = text.split(/[\s,]+/).filter((image) => image !== '')
  const wrong = images.find((image) => !imageReference.test(image))
  return wrong === undefined
    ? images
    : refuse(context, `must be an image such as debian:bookworm, or several, but has ${JSON.stringify(wrong)}`)
})

/** What says what is wrong with a setting. */
const refuse = (context: z.RefinementCtx, message: string): never => {
  context.addIssue({ code: 'custom', message })
  return z.NEVER
}

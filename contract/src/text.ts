import { z } from 'zod'

/*
 * Texts that travel into places where a control character or a stray credential does harm: headers, commit authors,
 * log lines, outgoing requests.
 */

const control = /\p{Cc}/u

/** One line without control characters, trimmed. */
export const line = (min: number, max: number) =>
  z
    .string()
    .trim()
    .min(min)
    .max(max)
    .refine((text) => !control.test(text), 'must not have control characters')

/** Characters that turn the reading order around and can make a title look like another. */
const reordering = /[\u202a-\u202e\u2066-\u2069]/

/** A title in a request: 1–200 characters after trimming. */
export const TitleInput = line(1, 200).refine((text) => !reordering.test(text), 'must not change the reading order')

/** What is wrong with `text` as the address of a web service; undefined when nothing is. */
export function addressProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'must be an address such as https://host/path'
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must start with http:// or https://'
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password'
  return undefined
}

/** The address of a web service: http or https, no user name or password, at most 2,048 characters. */
export const WebAddress = z
  .string()
  .trim()
  .max(2048)
  .superRefine((text, ctx) => {
    const message = addressProblem(text)
    if (message !== undefined) ctx.addIssue({ code: 'custom', message })
  })
  .meta({ description: 'An http or https address without user name or password.' })

/** Headers that belong to the one who sends the request, not to the one who configures it. */
const reservedHeaders = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'expect',
])

/** True when `name` can be set as an extra request header. */
export const headerName = (name: string): boolean =>
  /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/.test(name) && !reservedHeaders.has(name.toLowerCase())

/** Extra request headers: at most 50; no line ends or control characters; none that frames the request. */
export const ExtraHeaders = z
  .record(
    z.string().refine(headerName, 'is no header that may be set'),
    z
      .string()
      .max(8192)
      .refine((text) => !control.test(text.replaceAll('\t', ' ')), 'must not have control characters'),
  )
  .refine((headers) => Object.keys(headers).length <= 50, 'must have at most 50 headers')

import type { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import { Problem } from '@parley/contract/problems'
import type { CallRequest } from './serve.ts'

/*
 * Files of a `multipart/form-data` body, one after the other as they arrive: nothing is gathered, and the sender is slowed
 * down to the pace at which a file is taken.
 */

export interface UploadedFile {
  /** The name of its form field. */
  field: string
  /** As the sender calls it, without folders. */
  name: string
  /** Fails when the rest does not come. */
  body: Readable
}

const limits = { files: 1000, fields: 1000, parts: 2000, fieldSize: 64 * 1024, headerPairs: 100 }

/**
 * Calls `take` for each file in turn; it must read the body or reject. Rejects with what `take` rejects with, with
 * `unsupported_media_type` or `malformed_request` for a body that is no form, with `payload_too_large` for one too large.
 */
export async function readFiles(request: CallRequest, take: (file: UploadedFile) => Promise<void>): Promise<void> {
  const { raw } = request
  const parser = parserOf(request.header('content-type'))
  const bodies = new Set<Readable>()
  const { promise: over, resolve: finish, reject: fail } = Promise.withResolvers<void>()
  let taking = Promise.resolve()
  parser.on('file', (field, body, name) => {
    bodies.add(body)
    // Without a listener an abandoned body would be an uncaught error.
    body.on('error', () => {}).once('end', () => bodies.delete(body))
    taking = taking.then(() => take({ field, name: name ?? '', body }))
    taking.catch(fail)
  })
  for (const event of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
    parser.once(event, () => fail(new Problem('validation_error', 'The form has too many parts.')))
  parser.once('finish', finish)
  parser.once('error', (error) => fail(new Problem('malformed_request', 'The form is broken.', {}, { cause: error })))
  raw.once('error', fail)
  raw.pipe(parser)
  try {
    await over
    await taking
  } catch (error) {
    // What still comes is read and dropped, or no answer would fit through the connection.
    raw.unpipe(parser)
    raw.on('error', () => {}).resume()
    const cause = error instanceof Error ? error : new Error(String(error))
    for (const body of bodies) body.destroy(cause)
    await taking.catch(() => {})
    throw error
  }
}

function parserOf(type: string | undefined) {
  if (!/^multipart\/form-data\s*;/i.test(type ?? ''))
    throw new Problem('unsupported_media_type', 'The body must be multipart/form-data.')
  try {
    return new Busboy({ headers: { 'content-type': type ?? '' }, limits })
  } catch (error) {
    throw new Problem('malformed_request', 'The form has no boundary.', {}, { cause: error })
  }
}

import { ForgeError, ownerAndName } from './forge.ts'

/** What an interface's type leaves open and we need; missing, it is the forge's failure. */
export function said<T>(value: T): NonNullable<T> {
  if (value === undefined || value === null) throw unknownShape()
  return value
}

/** A parsed answer; what was no JSON (the sign-in page of a proxy) is text, bytes or nothing. */
export function json<T>(data: T): NonNullable<T> {
  if (typeof data !== 'object' || data === null || data instanceof ArrayBuffer || data instanceof Response) {
    throw unknownShape()
  }
  return data
}

const unknownShape = () => new ForgeError('failed', 'The forge gave an answer of another shape than its interface has.')

/** Owner and name; a name of another form is a repository that is not there. */
export function inPath(fullName: string): [owner: string, name: string] {
  const parts = ownerAndName(fullName)
  if (parts === undefined) throw new ForgeError('not_found', 'The forge has nothing there.')
  return [parts.owner, parts.name]
}

/** Null when the forge says that something is absent or forbidden: which of both it is is not for us to know. */
export async function nullWhenOutOfReach<T>(look: () => Promise<T>): Promise<T | null> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof ForgeError && ['not_found', 'forbidden'].includes(error.failure)) return null
    throw error
  }
}

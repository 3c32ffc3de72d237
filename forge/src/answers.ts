import { ForgeError, ownerAndName } from './forge.ts'

/** A library result's value; an answer that was no JSON has none. */
export function answered<T>(response: { data: T }): NonNullable<T> {
  return said(response.data)
}

/** The forge's types leave every member optional; one that we need and that is missing is the forge's failure. */
export function said<T>(value: T): NonNullable<T> {
  if (value === undefined || value === null) {
    throw new ForgeError('failed', 'The forge gave an answer of another shape than its interface has.')
  }
  return value
}

/** Owner and name for a path; a name of another form is a repository that is not there. */
export function inPath(fullName: string): [owner: string, name: string] {
  const parts = ownerAndName(fullName)
  if (parts === undefined) throw new ForgeError('not_found', 'The forge has nothing there.')
  return [encodeURIComponent(parts.owner), encodeURIComponent(parts.name)]
}

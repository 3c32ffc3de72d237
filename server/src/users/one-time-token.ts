import { createHash, randomBytes } from 'node:crypto'

/** A token that nobody guesses: of a link or a session. Only a hash of it is stored. */
export const oneTimeToken = (): string => randomBytes(32).toString('base64url')

/** A plain hash will do for what is random. */
export const tokenHash = (token: string): Buffer => createHash('sha256').update(token).digest()

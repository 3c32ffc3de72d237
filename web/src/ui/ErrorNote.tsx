import { Problem } from '@parley/contract/problems'
import type { ReactNode } from 'react'

const advice: Partial<Record<string, string>> = {
  unavailable: 'Is the server running? The page tries again by itself.',
  upstream_timeout: 'It took too long. Try again.',
  forge_not_connected: 'Connect a Git host in the settings.',
  forge_token_rejected: 'Check the token and what it may do, then save it again.',
  repository_not_accessible: 'Check the name and what the connected account may read.',
  capacity: 'Pause or delete a sandbox, then try again.',
  internal_error: 'The log of the server has the cause under this request id.',
}

/** What failed, and what one can do about it. */
export function ErrorNote({ error, children }: { error: unknown; children?: ReactNode }) {
  if (error === null || error === undefined) return null
  const code = error instanceof Problem ? error.code : undefined
  const request = error instanceof Problem ? error.extra.members?.['request_id'] : undefined
  const todo = code === undefined ? undefined : advice[code]
  return (
    <div role="alert" className="rounded-lg border border-bad bg-bad-tint px-3 py-2 text-sm">
      <p className="font-medium wrap-anywhere whitespace-pre-wrap text-bad">
        {error instanceof Error ? error.message : String(error)}
      </p>
      {fieldsOf(error).map((line) => (
        <p key={line}>{line}</p>
      ))}
      {todo !== undefined && <p>{todo}</p>}
      {typeof request === 'string' && <p className="text-soft">Request {request}</p>}
      {children}
    </div>
  )
}

const fieldsOf = (error: unknown): string[] =>
  error instanceof Problem ? (error.extra.errors ?? []).map(({ loc, msg }) => `${loc.slice(1).join(' ')}: ${msg}`) : []

import { Problem, type ProblemCode, problems } from '@parley/contract/problems'
import { createParser } from 'eventsource-parser'
import type { Frame } from './serve.ts'

/*
 * The reading side of `stream.ts`; runs in browsers too. Chunks may be cut anywhere, also inside a character.
 */

const largestElement = 64 * 1024 * 1024

/** The elements of a JSON array, each as soon as it is whole. Throws the problem that ended the stream, if one did. */
export async function* readArray(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  const cut = arrayCutter()
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const chunk of chunks) {
    for (const text of cut.push(decoder.decode(chunk, { stream: true }))) yield element(text)
  }
  if (!cut.isWhole()) throw new Problem('upstream_error', 'The stream was cut before its end.')
}

function element(text: string): unknown {
  const value: unknown = JSON.parse(text)
  const problem = problemIn(value)
  if (problem) throw problem
  return value
}

/** Cuts a JSON array that comes in pieces into the texts of its elements. */
function arrayCutter() {
  let depth = 0
  let isText = false
  let isEscaped = false
  let pending = ''
  let isDone = false

  /** One character outside a text; gives true when an element ended just before it. */
  function step(char: string): boolean {
    if (char === '"') isText = true
    else if (char === '[' || char === '{') depth++
    else if (char === ']' || char === '}') depth--
    if (depth === 0 && char === ']') isDone = true
    return (depth === 1 && char === ',') || isDone
  }

  return {
    push(text: string): string[] {
      const found: string[] = []
      let from = 0
      for (let at = 0; at < text.length; at++) {
        const char = text.charAt(at)
        if (isText) {
          if (isEscaped) isEscaped = false
          else if (char === '\\') isEscaped = true
          else if (char === '"') isText = false
          continue
        }
        const before = depth
        const ended = step(char)
        if (before === 0) from = at + 1
        if (!ended) {
          if (depth === 1 && char === '}') {
            // An object is whole with its brace: nobody has to wait for the comma.
            found.push(pending + text.slice(from, at + 1))
            pending = ''
            from = at + 1
          }
          continue
        }
        found.push(pending + text.slice(from, at))
        pending = ''
        from = at + 1
      }
      pending += isDone ? '' : text.slice(from)
      if (pending.length > largestElement) throw new Problem('upstream_error', 'An element of the stream is too large.')
      return found.map((part) => part.trim()).filter((part) => part !== '')
    },
    isWhole: () => isDone,
  }
}

/**
 * The frames of server-sent events; comments are passed over. A frame `resync` ends the reading: come again with the last
 * id. A frame `problem` is thrown.
 */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Frame<unknown>> {
  const frames: Frame<string>[] = []
  const parser = createParser({
    maxBufferSize: largestElement,
    onEvent: ({ id, event, data }) => frames.push(frame(id, event, data)),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw new Problem('upstream_error', 'A frame is too large.')
    },
  })
  const decoder = new TextDecoder()
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    for (const next of frames.splice(0)) {
      if (next.event === 'resync') return
      const data: unknown = JSON.parse(next.data)
      if (next.event === 'problem') throw problemIn(data) ?? new Problem('upstream_error')
      yield { ...next, data }
    }
  }
}

const frame = (id: string | undefined, event: string | undefined, data: string): Frame<string> => ({
  ...(id === undefined ? {} : { id }),
  ...(event === undefined ? {} : { event }),
  data,
})

const own = new Set(['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id', 'errors'])

/** The problem that a JSON value describes; undefined when it is none. Unknown codes become the nearest known one. */
export function problemIn(value: unknown, retryAfter?: number): Problem | undefined {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('code' in value)) return undefined
  const { type, code, status, detail, errors } = value as Record<string, unknown>
  if (typeof type !== 'string' || !type.includes('/problems/') || typeof code !== 'string') return undefined
  const members = Object.fromEntries(Object.entries(value).filter(([name]) => !own.has(name)))
  return new Problem(knownCode(code, Number(status)), typeof detail === 'string' ? detail : undefined, {
    members: { ...members, request_id: (value as { request_id?: unknown }).request_id },
    ...(Array.isArray(errors) ? { errors } : {}),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  })
}

function knownCode(code: string, status: number): ProblemCode {
  if (Object.hasOwn(problems, code)) return code as ProblemCode
  return codeOfStatus(status)
}

export function codeOfStatus(status: number): ProblemCode {
  const entries = Object.entries(problems) as [ProblemCode, readonly [number, string]][]
  return entries.find(([, [known]]) => known === status)?.[0] ?? 'upstream_error'
}

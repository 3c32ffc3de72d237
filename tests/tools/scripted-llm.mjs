#!/usr/bin/env node
import crypto from 'node:crypto'
import { readFileSync, writeFileSync, createWriteStream, realpathSync } from 'node:fs'
/* oxlint-disable eqeqeq, no-console, unicorn/no-useless-fallback-in-spread -- a stand-alone program */
// Scripted LLM for tests and benchmarks: a loopback server that speaks the wire
// formats of common model providers and plays a script deterministically.
// Node >= 18, no dependencies. `node scripted-llm.mjs --help` documents it.
import http from 'node:http'
import { fileURLToPath } from 'node:url'
import zlib from 'node:zlib'

const HELP = `scripted LLM for tests and benchmarks

usage: node scripted-llm.mjs --script FILE.json [flags]

flags
  --script FILE        the script to play (JSON, below). Default: replies "ok." to everything
  --port N             port to listen on (default 0: a free one)
  --host ADDR          address to listen on (default 127.0.0.1)
  --port-file FILE     also write the port number to FILE once listening
  --log-file FILE      also append each request's log entry to FILE (JSON lines)
  --log-max N          log entries kept in memory (default 200000, oldest dropped)
  --keep-bodies N      keep the last N request bodies for GET /log/N/body (default 0)
  --conversation-header NAMES   request headers that name the conversation, in order of
                       preference, comma-separated (default x-conversation-id)
  --max-body-mib N     refuse request bodies over N MiB with 413 (default 64)
  --quiet              do not print the listening line
  --help               this text

On start it prints one line: {"url":"http://127.0.0.1:PORT","port":PORT,"pid":PID}
It stops on SIGINT or SIGTERM.

endpoints
  POST /v1/chat/completions            OpenAI Chat Completions, stream or not, tools
  POST /v1/responses                   OpenAI Responses, stream or not, function and custom tools
  POST /v1/messages                    Anthropic Messages, stream or not, tools
  POST /v1/messages/count_tokens       Anthropic token count
  POST /v1beta/models/M:generateContent, :streamGenerateContent, :countTokens   Gemini
  GET  /v1/models                      the models of the script
  GET  /log                            {summary, conversations, requests}; ?summary=1 leaves
                                       requests out, ?conv=ID only one conversation, ?since=N from entry N
  GET  /log/N/body                     the body of request N (with --keep-bodies)
  DELETE /log                          forget the log and every conversation's state
  PUT  /script                         replace the script (body: script JSON)
  POST /release/NAME                   let the turns held by "hold": "NAME" go on (all, also later ones)
  GET  /healthz                        "ok"
(the /v1 prefix may be left out, or stand behind any other prefix)

script
  { "model": "scripted-1",             // or "models": [..]; any model name is accepted in requests
    "delayMs": 0,                      // wait before the first byte of each reply
    "tokensPerSecond": 0,              // pacing of a streamed reply; 0 = at once. A token is 4 bytes
    "chunkTokens": 8,                  // tokens in one stream chunk
    "contextWindow": 0,                // >0: a longer prompt gets the provider's context-length error
    "turnBy": "count",                 // "count": turn index = assistant messages in the request
                                       // (or the highest turn whose tool-call id it still holds, +1);
                                       // "served": turns served to that conversation so far
    "toolkit": { "shell": [            // alternatives: the first one that the request offers is used
       { "name": "bash",  "args": { "command": "{{cmd}}" } },
       { "name": "shell", "args": { "command": ["sh", "-c", "{{cmd}}"] } } ] },
    "side": [                          // requests outside the conversation (titles, summaries)
       { "when": { "system": "title", "noTools": true }, "text": "A title" } ],
    "turns": [
       { "repeat": 50, "use": [ { "tool": "shell", "vars": { "cmd": "echo step-{{i}}" } } ] },
       { "text": "All done." } ],
    "after": { "text": "Nothing is left in the script." },     // past the last turn; or "loop"
    "scripts": { "other": { "turns": [ .. ] } } }              // more scripts, by name

  A turn: any of text, reasoning, tools: [{name, args | rawArgs}], use: [{tool, vars}], repeat,
  delayMs, tokensPerSecond, chunkTokens, hold, expect, fault, finish, usage: {input, output, cached}.
    expect   a regular expression (template) that {{last}} must match; a miss is logged as
             expectFailed and counted in the summary, the turn plays all the same
    finish   "stop" | "tools" | "length": overrides the finish reason
    fault    one fault or a list, each {type, times}: the first "times" requests (default 1, -1 =
             all) of this conversation for this turn get it, then the turn plays
       status           status (429), retryAfter (s), message, code
       context-length   the provider's error for a prompt that is too long
       disconnect       afterChunks (0 = before any header): the socket is destroyed
       truncate         afterChunks: the stream ends early, without its closing events
       malformed        afterChunks: a stream event (or the body) that is not JSON
       malformed-args   the tool calls' arguments are cut in the middle
       stall            afterChunks, ms: silence for ms, then the rest follows
       stream-error     afterChunks: an error event within the stream
       empty            a reply with no content
  side[].when: regular expressions on system, model, lastUser, body; noTools: true|false; maxTools: N.
  Templates in text, reasoning, args, vars, expect: {{turn}} (from 0), {{i}} (from 1, within repeat),
  {{prev}} (i-1), {{conv}}, {{model}}, {{script}}, {{last}} (all text after the last assistant message),
  {{last:/re(x)/}} (its first group), {{pad:N}} (N filler bytes), {{uuid}} (fixed by conversation and turn).

conversations
  A conversation's key is, in this order: a header of --conversation-header; the marker [[conv:ID]]
  in a user message; body prompt_cache_key; body metadata.user_id; the conversation of
  previous_response_id; else a hash of the first user message. Many play at once, each by itself.
  The marker [[script:NAME]] in a user message starts the script NAME at that message.

log entry
  n, conv, wire, script, turn, kind (turn|side|after|error), model, stream, status, fault, bytes (body),
  messages, tools, promptTokens, cachedTokens, completionTokens, promptBytes, prefixBytes (how many
  bytes from the start equal those of the conversation's previous prompt), prefixShare (that, over the
  previous prompt's length: 1 = the old prompt is a byte prefix of the new one, friendly to prompt
  caches), recvStart, recvEnd, firstByte, done (epoch ms with fractions), gapMs (from the conversation's
  previous reply's end to the end of this request: the client's own time for the step), aborted,
  expectFailed.
`

const now = () => performance.timeOrigin + performance.now()
const tokensOf = (bytes) => Math.ceil(bytes / 4)
const sha = (s, n = 12) => crypto.createHash('sha1').update(s).digest('hex').slice(0, n)
const sleep = (ms) => new Promise((r) => setTimeout(r, ms).unref())
const cutOff = async (res) => {
  await new Promise(setImmediate)
  res.socket?.destroySoon()
} // what was written goes out first
const quantile = (sorted, q) =>
  sorted.length ? sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1))] : null
const round = (x, d = 3) => (x == null ? null : Math.round(x * 10 ** d) / 10 ** d)

// ---------------------------------------------------------------- requests, normalised
// Every wire becomes {model, stream, system, tools: [{name, custom}], items: [{role, text, ids}], prompt}
// where prompt is the list of parts, in the order a provider reads them.
const textOf = (content) => {
  if (content == null) return ''
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return content.map(textOf).join('\n')
  return (
    content.text ??
    (content.content !== undefined
      ? textOf(content.content)
      : content.output !== undefined
        ? textOf(content.output)
        : '')
  )
}
const asBlocks = (content) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content)
const stripCacheMarks = (key, value) => (key === 'cache_control' ? undefined : value)

const parsers = {
  chat(b) {
    const messages = b.messages ?? []
    return {
      model: b.model,
      stream: !!b.stream,
      includeUsage: !!b.stream_options?.include_usage,
      system: messages
        .filter((m) => m.role === 'system' || m.role === 'developer')
        .map((m) => textOf(m.content))
        .join('\n'),
      tools: (b.tools ?? []).map((t) => ({ name: t.function?.name ?? t.custom?.name ?? t.name })),
      items: messages
        .filter((m) => m.role !== 'system' && m.role !== 'developer')
        .map((m) => ({
          role: m.role,
          text: textOf(m.content),
          ids: (m.tool_calls ?? []).map((c) => c.id),
        })),
      prompt: [b.tools ?? [], ...messages],
    }
  },
  responses(b) {
    const input = typeof b.input === 'string' ? [{ role: 'user', content: b.input }] : (b.input ?? [])
    const items = []
    for (const it of input) {
      if (it.type === 'function_call' || it.type === 'custom_tool_call')
        items.push({ role: 'assistant', text: '', ids: [it.call_id] })
      else if (it.type === 'reasoning') items.push({ role: 'assistant', text: '', ids: [] })
      else if (it.type === 'function_call_output' || it.type === 'custom_tool_call_output')
        items.push({ role: 'tool', text: textOf(it.output), ids: [] })
      else if (it.role && it.role !== 'system' && it.role !== 'developer')
        items.push({ role: it.role, text: textOf(it.content), ids: [] })
    }
    return {
      model: b.model,
      stream: !!b.stream,
      previous: b.previous_response_id,
      system: [
        b.instructions ?? '',
        ...input.filter((m) => m.role === 'system' || m.role === 'developer').map((m) => textOf(m.content)),
      ].join('\n'),
      tools: (b.tools ?? []).map((t) => ({ name: t.name ?? t.type, custom: t.type === 'custom' })),
      items,
      prompt: [b.instructions ?? '', b.tools ?? [], ...input],
    }
  },
  messages(b, raw) {
    const messages = b.messages ?? []
    const items = messages.flatMap((m) => {
      const blocks = asBlocks(m.content) ?? []
      const results = blocks.filter((x) => x.type === 'tool_result')
      const rest = blocks.filter((x) => x.type !== 'tool_result')
      return [
        ...(results.length ? [{ role: 'tool', text: textOf(results), ids: [] }] : []),
        ...(rest.length || !results.length
          ? [{ role: m.role, text: textOf(rest), ids: rest.filter((x) => x.type === 'tool_use').map((x) => x.id) }]
          : []),
      ]
    })
    return {
      model: b.model,
      stream: !!b.stream,
      marks: raw.includes('"cache_control"'),
      system: textOf(b.system),
      tools: (b.tools ?? []).map((t) => ({ name: t.name })),
      items,
      prompt: [
        b.tools ?? [],
        asBlocks(b.system) ?? [],
        ...messages.map((m) => ({ role: m.role, content: asBlocks(m.content) })),
      ],
    }
  },
  gemini(b) {
    const items = (b.contents ?? []).map((c) => ({
      role: c.role === 'model' ? 'assistant' : (c.parts ?? []).some((p) => p.functionResponse) ? 'tool' : 'user',
      text: (c.parts ?? [])
        .map((p) => p.text ?? (p.functionResponse ? JSON.stringify(p.functionResponse.response) : ''))
        .join('\n'),
      ids: (c.parts ?? []).map((p) => p.functionCall?.id).filter(Boolean),
    }))
    return {
      system: textOf((b.systemInstruction ?? b.system_instruction)?.parts),
      tools: (b.tools ?? [])
        .flatMap((t) => t.functionDeclarations ?? t.function_declarations ?? [])
        .map((t) => ({ name: t.name })),
      items,
      prompt: [b.systemInstruction ?? '', b.tools ?? [], ...(b.contents ?? [])],
    }
  },
}

// ---------------------------------------------------------------- replies, per wire
// A reply: {text, reasoning, calls: [{id, name, json, custom}], finish, usage: {input, output, cached}}
const pieces = (s, size) => {
  const out = []
  for (let i = 0; i < s.length; i += size) out.push(s.slice(i, i + size))
  return out
}
const sse = (data, event) =>
  `${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
const parseArgs = (json) => {
  try {
    return JSON.parse(json)
  } catch {
    return {}
  }
}

const wires = {
  chat: {
    base: (r, object) => ({ id: `chatcmpl-${r.id}`, object, created: r.created, model: r.model }),
    usage: (u) => ({
      prompt_tokens: u.input,
      completion_tokens: u.output,
      total_tokens: u.input + u.output,
      prompt_tokens_details: { cached_tokens: u.cached },
      completion_tokens_details: { reasoning_tokens: 0 },
    }),
    finish: { stop: 'stop', tools: 'tool_calls', length: 'length' },
    whole(r) {
      const message = { role: 'assistant', content: r.text || null, refusal: null }
      if (r.reasoning) message.reasoning_content = r.reasoning
      if (r.calls.length)
        message.tool_calls = r.calls.map((c) => ({
          id: c.id,
          type: 'function',
          function: { name: c.name, arguments: c.json },
        }))
      return {
        ...this.base(r, 'chat.completion'),
        choices: [{ index: 0, message, logprobs: null, finish_reason: this.finish[r.finish] }],
        usage: this.usage(r.usage),
      }
    },
    *frames(r, size) {
      const chunk = (delta, finish_reason = null) =>
        sse({ ...this.base(r, 'chat.completion.chunk'), choices: [{ index: 0, delta, logprobs: null, finish_reason }] })
      yield chunk({ role: 'assistant', content: '' })
      for (const p of pieces(r.reasoning, size)) yield chunk({ reasoning_content: p })
      for (const p of pieces(r.text, size)) yield chunk({ content: p })
      for (const [index, c] of r.calls.entries()) {
        yield chunk({ tool_calls: [{ index, id: c.id, type: 'function', function: { name: c.name, arguments: '' } }] })
        for (const p of pieces(c.json, size)) yield chunk({ tool_calls: [{ index, function: { arguments: p } }] })
      }
      yield chunk({}, this.finish[r.finish])
      if (r.includeUsage)
        yield sse({ ...this.base(r, 'chat.completion.chunk'), choices: [], usage: this.usage(r.usage) })
      yield sse('[DONE]')
    },
    error: (e) => ({ error: { message: e.message, type: e.type, param: null, code: e.code ?? null } }),
    streamError: (e) => sse(wires.chat.error(e)),
  },

  responses: {
    usage: (u) => ({
      input_tokens: u.input,
      input_tokens_details: { cached_tokens: u.cached },
      output_tokens: u.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: u.input + u.output,
    }),
    base(r, status, output, usage = null) {
      return {
        id: `resp_${r.id}`,
        object: 'response',
        created_at: r.created,
        status,
        background: false,
        error: null,
        incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
        instructions: null,
        model: r.model,
        output,
        parallel_tool_calls: true,
        previous_response_id: r.previous ?? null,
        store: false,
        tool_choice: 'auto',
        tools: [],
        metadata: {},
        usage,
      }
    },
    items(r) {
      const out = []
      if (r.reasoning)
        out.push({
          type: 'reasoning',
          id: `rs_${r.id}`,
          summary: [{ type: 'summary_text', text: r.reasoning }],
          encrypted_content: null,
        })
      if (r.text)
        out.push({
          type: 'message',
          id: `msg_${r.id}`,
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: r.text, annotations: [], logprobs: [] }],
        })
      for (const c of r.calls) {
        out.push(
          c.custom
            ? {
                type: 'custom_tool_call',
                id: `ctc_${c.id}`,
                status: 'completed',
                call_id: c.id,
                name: c.name,
                input: parseArgs(c.json).input ?? c.json,
              }
            : {
                type: 'function_call',
                id: `fc_${c.id}`,
                status: 'completed',
                call_id: c.id,
                name: c.name,
                arguments: c.json,
              },
        )
      }
      return out
    },
    whole(r) {
      return this.base(r, r.finish === 'length' ? 'incomplete' : 'completed', this.items(r), this.usage(r.usage))
    },
    *frames(r, size) {
      let sequence_number = 0
      const ev = (type, data) => sse({ type, sequence_number: sequence_number++, ...data }, type)
      yield ev('response.created', { response: this.base(r, 'in_progress', []) })
      yield ev('response.in_progress', { response: this.base(r, 'in_progress', []) })
      const items = this.items(r)
      for (const [output_index, item] of items.entries()) {
        const at = { item_id: item.id, output_index }
        if (item.type === 'message') {
          const part = { type: 'output_text', text: '', annotations: [], logprobs: [] }
          yield ev('response.output_item.added', {
            output_index,
            item: { ...item, status: 'in_progress', content: [] },
          })
          yield ev('response.content_part.added', { ...at, content_index: 0, part })
          for (const delta of pieces(r.text, size))
            yield ev('response.output_text.delta', { ...at, content_index: 0, delta, logprobs: [] })
          yield ev('response.output_text.done', { ...at, content_index: 0, text: r.text, logprobs: [] })
          yield ev('response.content_part.done', { ...at, content_index: 0, part: item.content[0] })
        } else if (item.type === 'function_call') {
          yield ev('response.output_item.added', {
            output_index,
            item: { ...item, status: 'in_progress', arguments: '' },
          })
          for (const delta of pieces(item.arguments, size))
            yield ev('response.function_call_arguments.delta', { ...at, delta })
          yield ev('response.function_call_arguments.done', { ...at, name: item.name, arguments: item.arguments })
        } else if (item.type === 'custom_tool_call') {
          yield ev('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', input: '' } })
          for (const delta of pieces(item.input, size))
            yield ev('response.custom_tool_call_input.delta', { ...at, delta })
          yield ev('response.custom_tool_call_input.done', { ...at, input: item.input })
        } else {
          yield ev('response.output_item.added', { output_index, item: { ...item, summary: [] } })
          yield ev('response.reasoning_summary_part.added', {
            ...at,
            summary_index: 0,
            part: { type: 'summary_text', text: '' },
          })
          for (const delta of pieces(r.reasoning, size))
            yield ev('response.reasoning_summary_text.delta', { ...at, summary_index: 0, delta })
          yield ev('response.reasoning_summary_text.done', { ...at, summary_index: 0, text: r.reasoning })
          yield ev('response.reasoning_summary_part.done', { ...at, summary_index: 0, part: item.summary[0] })
        }
        yield ev('response.output_item.done', { output_index, item })
      }
      const whole = this.whole(r)
      yield ev(`response.${whole.status}`, { response: whole })
    },
    error: (e) => wires.chat.error(e),
    streamError: (e) =>
      sse(
        {
          type: 'response.failed',
          sequence_number: 0,
          response: {
            id: 'resp_failed',
            object: 'response',
            status: 'failed',
            error: { code: e.code ?? e.type, message: e.message },
            output: [],
          },
        },
        'response.failed',
      ),
  },

  messages: {
    usage: (u, output) => ({
      input_tokens: u.input - u.cached,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: u.cached,
      output_tokens: output,
      service_tier: 'standard',
    }),
    finish: { stop: 'end_turn', tools: 'tool_use', length: 'max_tokens' },
    whole(r) {
      const content = []
      if (r.reasoning) content.push({ type: 'thinking', thinking: r.reasoning, signature: sha(r.reasoning, 32) })
      if (r.text) content.push({ type: 'text', text: r.text })
      for (const c of r.calls) content.push({ type: 'tool_use', id: c.id, name: c.name, input: parseArgs(c.json) })
      return {
        id: `msg_${r.id}`,
        type: 'message',
        role: 'assistant',
        model: r.model,
        content,
        stop_reason: this.finish[r.finish],
        stop_sequence: null,
        usage: this.usage(r.usage, r.usage.output),
      }
    },
    *frames(r, size) {
      const ev = (data) => sse(data, data.type)
      yield ev({
        type: 'message_start',
        message: { ...this.whole(r), content: [], stop_reason: null, usage: this.usage(r.usage, 1) },
      })
      let index = 0
      const block = function* (content_block, deltas) {
        yield ev({ type: 'content_block_start', index, content_block })
        for (const delta of deltas) yield ev({ type: 'content_block_delta', index, delta })
        yield ev({ type: 'content_block_stop', index: index++ })
      }
      if (r.reasoning) {
        yield* block({ type: 'thinking', thinking: '', signature: '' }, [
          ...pieces(r.reasoning, size).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: sha(r.reasoning, 32) },
        ])
      }
      yield ev({ type: 'ping' })
      if (r.text)
        yield* block(
          { type: 'text', text: '' },
          pieces(r.text, size).map((text) => ({ type: 'text_delta', text })),
        )
      for (const c of r.calls)
        yield* block(
          { type: 'tool_use', id: c.id, name: c.name, input: {} },
          pieces(c.json, size).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
        )
      yield ev({
        type: 'message_delta',
        delta: { stop_reason: this.finish[r.finish], stop_sequence: null },
        usage: { output_tokens: r.usage.output },
      })
      yield ev({ type: 'message_stop' })
    },
    types: {
      400: 'invalid_request_error',
      401: 'authentication_error',
      403: 'permission_error',
      404: 'not_found_error',
      413: 'request_too_large',
      429: 'rate_limit_error',
      529: 'overloaded_error',
    },
    error: (e) => ({
      type: 'error',
      error: { type: wires.messages.types[e.status] ?? 'api_error', message: e.message },
    }),
    streamError: (e) => sse(wires.messages.error(e), 'error'),
  },

  gemini: {
    usage: (u) => ({
      promptTokenCount: u.input,
      candidatesTokenCount: u.output,
      totalTokenCount: u.input + u.output,
      cachedContentTokenCount: u.cached,
    }),
    reply(r, parts, finishReason) {
      return {
        candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason ? { finishReason } : {}) }],
        modelVersion: r.model,
        responseId: r.id,
        usageMetadata: this.usage(r.usage),
      }
    },
    finish: { stop: 'STOP', tools: 'STOP', length: 'MAX_TOKENS' },
    calls: (r) => r.calls.map((c) => ({ functionCall: { id: c.id, name: c.name, args: parseArgs(c.json) } })),
    whole(r) {
      const parts = [
        ...(r.reasoning ? [{ text: r.reasoning, thought: true }] : []),
        ...(r.text ? [{ text: r.text }] : []),
        ...this.calls(r),
      ]
      return this.reply(r, parts, this.finish[r.finish])
    },
    *frames(r, size) {
      for (const text of pieces(r.reasoning, size)) yield sse(this.reply(r, [{ text, thought: true }]))
      for (const text of pieces(r.text, size)) yield sse(this.reply(r, [{ text }]))
      yield sse(this.reply(r, this.calls(r), this.finish[r.finish]))
    },
    error: (e) => ({
      error: {
        code: e.status,
        message: e.message,
        status:
          {
            400: 'INVALID_ARGUMENT',
            401: 'UNAUTHENTICATED',
            403: 'PERMISSION_DENIED',
            429: 'RESOURCE_EXHAUSTED',
            503: 'UNAVAILABLE',
          }[e.status] ?? 'INTERNAL',
      },
    }),
    streamError: (e) => sse(wires.gemini.error(e)),
  },
}

const contextError = (wire, tokens, limit) => ({
  status: 400,
  type: 'invalid_request_error',
  code: 'context_length_exceeded',
  message:
    wire === 'messages'
      ? `prompt is too long: ${tokens} tokens > ${limit} maximum`
      : wire === 'gemini'
        ? `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${limit}).`
        : `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
})

// ---------------------------------------------------------------- scripts
const expandTurns = (turns = []) =>
  turns.flatMap((t) => Array.from({ length: t.repeat ?? 1 }, (_, k) => ({ ...t, i: k + 1 })))

function checkScript(s) {
  if (s === null || typeof s !== 'object' || Array.isArray(s)) throw new Error('a script is a JSON object')
  const named = { '': s, ...(s.scripts ?? {}) }
  for (const [name, one] of Object.entries(named)) {
    if (one.turns !== undefined && !Array.isArray(one.turns))
      throw new Error(`script "${name}": turns must be an array`)
    for (const turn of one.turns ?? []) {
      for (const f of [turn.fault ?? []].flat()) {
        if (
          ![
            'status',
            'context-length',
            'disconnect',
            'truncate',
            'malformed',
            'malformed-args',
            'stall',
            'stream-error',
            'empty',
          ].includes(f.type)
        )
          throw new Error(`unknown fault type "${f.type}"`)
      }
      for (const u of turn.use ?? [])
        if (!(one.toolkit ?? s.toolkit)?.[u.tool]) throw new Error(`toolkit has no "${u.tool}"`)
      if (turn.expect) new RegExp(turn.expect.replace(/\{\{.*?\}\}/g, 'x'))
    }
  }
  return Object.fromEntries(
    Object.entries(named).map(([name, one]) => [name, { ...s, ...one, name, list: expandTurns(one.turns) }]),
  )
}

function render(value, v, escape = (x) => x) {
  if (typeof value === 'string') {
    return value.replace(/\{\{\s*([a-z]+)(?::(.*?))?\s*\}\}/gi, (all, name, arg) => {
      if (name === 'pad') return 'x'.repeat(Number(arg))
      if (name === 'uuid')
        return sha(`${v.conv}/${v.turn}/${arg ?? ''}`, 32).replace(
          /^(.{8})(.{4})(.{4})(.{4})(.{12})$/,
          '$1-$2-$3-$4-$5',
        )
      if (name === 'last' && arg) return escape(new RegExp(arg.replace(/^\/|\/$/g, '')).exec(v.last)?.[1] ?? '')
      return name in v ? escape(String(v[name])) : all
    })
  }
  if (Array.isArray(value)) return value.map((x) => render(x, v, escape))
  if (value && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([k, x]) => [k, render(x, v, escape)]))
  return value
}

class HttpError extends Error {
  constructor(e) {
    super(e.message)
    Object.assign(this, e)
  }
}

// ---------------------------------------------------------------- the server
export async function startScriptedLlm(options = {}) {
  let scripts = checkScript(options.script ?? {})
  const logMax = options.logMax ?? 200000
  const keepBodies = options.keepBodies ?? 0
  const keyHeaders = (options.conversationHeader ?? 'x-conversation-id')
    .toLowerCase()
    .split(',')
    .map((x) => x.trim())
  const maxBody = (options.maxBodyMib ?? 64) * 2 ** 20
  const logStream = options.logFile ? createWriteStream(options.logFile, { flags: 'a' }) : null
  let log = [],
    first = 0,
    counter = 0,
    inFlight = 0,
    peak = 0
  let conversations = new Map() // key -> {prompt, served, done, attempts}
  let responses = new Map() // response id -> {conv, turn}
  let gates = new Map() // name -> {promise, open}
  const bodies = new Map()
  const cpu0 = process.cpuUsage()

  const gate = (name) => {
    if (!gates.has(name)) {
      const g = {}
      g.promise = new Promise((r) => {
        g.open = r
      })
      gates.set(name, g)
    }
    return gates.get(name)
  }
  const conversation = (key) => {
    if (!conversations.has(key)) conversations.set(key, { prompt: null, served: 0, done: null, attempts: new Map() })
    return conversations.get(key)
  }
  const record = (entry) => {
    log.push(entry)
    if (log.length > logMax) first += log.splice(0, log.length - logMax).length
    logStream?.write(`${JSON.stringify(entry)}\n`)
  }

  function commonPrefix(a, b) {
    // bytes that two buffers share from the start
    const n = Math.min(a.length, b.length)
    let lo = 0,
      hi = n
    if (a.compare(b, 0, n, 0, n) === 0) return n
    while (hi - lo > 1) {
      // halve the differing range
      const mid = (lo + hi) >> 1
      if (a.compare(b, lo, mid, lo, mid) === 0) lo = mid
      else hi = mid
    }
    return lo
  }

  const keyOf = (req, headers, body) => {
    for (const name of keyHeaders) if (headers[name]) return String(headers[name]).slice(0, 200)
    for (const it of req.items) {
      const m = it.role === 'user' && /\[\[conv:([\w.-]+)\]\]/.exec(it.text)
      if (m) return m[1]
    }
    const id = body.prompt_cache_key ?? body.metadata?.user_id
    if (id) return String(id).slice(0, 200)
    if (req.previous && responses.has(req.previous)) return responses.get(req.previous).conv
    return `h-${sha(req.items.find((it) => it.role === 'user')?.text ?? '')}`
  }

  // the script that is playing, and where in it the request stands
  const placeOf = (req, conv) => {
    const before = req.previous ? responses.get(req.previous) : undefined
    let script = scripts[before?.script ?? /^scripted\/(.+)$/.exec(req.model ?? '')?.[1]] ?? scripts[''],
      from = 0
    for (const [k, it] of req.items.entries()) {
      const m = it.role === 'user' && /\[\[script:([\w.-]+)\]\]/.exec(it.text)
      if (m && scripts[m[1]]) {
        script = scripts[m[1]]
        from = k
      }
    }
    if (script.turnBy === 'served') return { script, from, turn: conv.served }
    let turn = before ? before.turn + 1 : 0,
      previous = ''
    for (let k = from; k < req.items.length; k++) {
      const { role, ids } = req.items[k]
      if (role === 'assistant') {
        // a tool call's id tells its turn; else a run of assistant items is one
        const own = ids
          .map((id) => /^call_t(\d+)_/.exec(id ?? ''))
          .filter(Boolean)
          .map((m) => Number(m[1]) + 1)
        if (own.length) turn = Math.max(turn, ...own)
        else if (previous !== 'assistant') turn++
      }
      previous = role
    }
    return { script, from, turn }
  }

  const sideOf = (req, script, raw) =>
    (script.side ?? []).find(({ when = {} }) => {
      const user = req.items.filter((it) => it.role === 'user').at(-1)?.text ?? ''
      return (
        (when.system === undefined || new RegExp(when.system, 'i').test(req.system)) &&
        (when.model === undefined || new RegExp(when.model, 'i').test(req.model ?? '')) &&
        (when.lastUser === undefined || new RegExp(when.lastUser, 'i').test(user)) &&
        (when.body === undefined || new RegExp(when.body, 'i').test(raw)) &&
        (when.maxTools === undefined || req.tools.length <= when.maxTools) &&
        (when.noTools === undefined || when.noTools === (req.tools.length === 0))
      )
    })

  function buildCalls(turn, script, from, req, v) {
    const wanted = (turn.tools ?? []).map((t) => ({ name: t.name, args: t.args ?? {}, rawArgs: t.rawArgs, vars: v }))
    for (const u of turn.use ?? []) {
      const choices = script.toolkit[u.tool]
      const pick = choices.find((c) => req.tools.some((t) => t.name === c.name))
      if (!pick)
        throw new HttpError({
          status: 400,
          type: 'invalid_request_error',
          message: `the script wants one of the tools [${choices.map((c) => c.name)}], the request offers [${req.tools.map((t) => t.name)}]`,
        })
      wanted.push({
        name: pick.name,
        args: pick.args ?? {},
        rawArgs: pick.rawArgs,
        vars: { ...v, ...render(u.vars ?? {}, v) },
      })
    }
    return wanted.map((w, k) => ({
      id: `call_t${v.turn}_${k}_${sha(`${v.conv}/${script.name}/${from}/${v.turn}/${k}`, 10)}`,
      name: render(w.name, w.vars),
      json: w.rawArgs !== undefined ? render(w.rawArgs, w.vars) : JSON.stringify(render(w.args, w.vars)),
      custom: req.tools.some((t) => t.name === w.name && t.custom),
    }))
  }

  async function complete(wire, body, raw, link, entry) {
    const { res, headers, urlModel, urlStream } = link
    const req = parsers[wire](body, raw)
    if (urlModel) Object.assign(req, { model: urlModel, stream: urlStream })
    const prompt = Buffer.from(
      req.prompt.map((p) => JSON.stringify(p, req.marks ? stripCacheMarks : undefined)).join('\n'),
    )
    const key = keyOf(req, headers, body)
    const conv = conversation(key)
    const { script, from, turn: index } = placeOf(req, conv)
    const side = sideOf(req, script, raw)
    let turn = side,
      kind = 'side'
    if (!side) {
      if (script.after === 'loop' && script.list.length) turn = script.list[index % script.list.length]
      else turn = script.list[index]
      kind = turn ? 'turn' : 'after'
      turn ??= (typeof script.after === 'object' ? script.after : null) ?? { text: 'ok.' }
    }
    Object.assign(entry, {
      conv: key,
      script: script.name,
      turn: side ? null : index,
      kind,
      model: req.model,
      stream: req.stream,
      messages: req.items.length,
      tools: req.tools.length,
      promptBytes: prompt.length,
    })
    if (!side) {
      entry.prefixBytes = conv.prompt ? commonPrefix(conv.prompt, prompt) : 0
      entry.prefixShare = conv.prompt ? round(entry.prefixBytes / conv.prompt.length, 5) : null
      entry.gapMs = conv.done == null ? null : round(entry.recvEnd - conv.done)
      conv.prompt = prompt
    }
    const tail = req.items.slice(req.items.findLastIndex((it) => it.role === 'assistant') + 1)
    const last = tail.map((it) => it.text).join('\n')
    const v = {
      turn: index,
      i: turn.i ?? 1,
      prev: (turn.i ?? 1) - 1,
      conv: key,
      model: req.model ?? '',
      script: script.name,
      last,
    }
    if (turn.expect && !new RegExp(render(turn.expect, v, (x) => x.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))).test(last))
      entry.expectFailed = last.slice(0, 200)

    const input = turn.usage?.input ?? tokensOf(prompt.length)
    const caches = wire === 'messages' ? req.marks : true
    const cached = turn.usage?.cached ?? (caches ? Math.min(input, Math.floor((entry.prefixBytes ?? 0) / 4)) : 0)
    entry.promptTokens = input

    // faults: the first of the list whose share of the attempts at this turn is not used up
    const place = `${script.name}/${side ? 'side' : index}`
    let attempt = conv.attempts.get(place) ?? 0
    conv.attempts.set(place, attempt + 1)
    let fault = null
    for (const f of [turn.fault ?? []].flat()) {
      const times = f.times ?? 1
      if (times < 0 || attempt < times) {
        fault = f
        break
      }
      attempt -= times
    }
    if (fault) entry.fault = fault.type
    if (script.contextWindow > 0 && input > script.contextWindow) {
      entry.fault = 'context-length'
      throw new HttpError(contextError(wire, input, script.contextWindow))
    }
    if (turn.hold) await Promise.race([gate(render(turn.hold, v)).promise, link.closed])
    const delay = turn.delayMs ?? script.delayMs ?? 0
    if (delay > 0) await Promise.race([sleep(delay), link.closed])
    if (entry.aborted) return
    if (fault?.type === 'disconnect' && !(fault.afterChunks > 0)) {
      entry.status = 0
      res.socket?.destroy()
      return
    }
    if (fault?.type === 'context-length')
      throw new HttpError(contextError(wire, input, fault.limit ?? Math.max(1, input - 1)))
    if (fault?.type === 'status') {
      const status = fault.status ?? 429
      throw new HttpError({
        status,
        retryAfter: fault.retryAfter,
        code: fault.code ?? (status === 429 ? 'rate_limit_exceeded' : undefined),
        type: status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error',
        message:
          fault.message ??
          { 429: 'Rate limit reached, please try again later.', 401: 'Incorrect API key provided.', 529: 'Overloaded' }[
            status
          ] ??
          'The scripted server had an error while processing the request.',
      })
    }

    const empty = fault?.type === 'empty'
    const calls = empty ? [] : buildCalls(turn, script, from, req, v)
    if (fault?.type === 'malformed-args')
      for (const c of calls) c.json = c.json.slice(0, Math.max(1, c.json.length >> 1))
    const reply = {
      id: sha(`${key}/${place}/${attempt}`, 24),
      created: Math.floor(entry.recvStart / 1000),
      model: req.model ?? script.model ?? 'scripted-1',
      text: empty ? '' : render(turn.text ?? '', v),
      reasoning: empty ? '' : render(turn.reasoning ?? '', v),
      calls,
      finish: turn.finish ?? (calls.length ? 'tools' : 'stop'),
      includeUsage: req.includeUsage,
      previous: req.previous,
    }
    const output =
      turn.usage?.output ??
      tokensOf(Buffer.byteLength(reply.text + reply.reasoning + calls.map((c) => c.name + c.json).join('')))
    reply.usage = { input, output, cached }
    Object.assign(entry, { cachedTokens: cached, completionTokens: output, status: 200 })
    const delivered = () => {
      if (side) return
      conv.served++
      if (wire === 'responses') responses.set(`resp_${reply.id}`, { conv: key, script: script.name, turn: index })
    }

    if (!req.stream) {
      const json = JSON.stringify(wires[wire].whole(reply))
      entry.firstByte = now()
      const cut = fault?.type === 'malformed' || fault?.type === 'truncate' || fault?.type === 'disconnect'
      if (!cut) delivered()
      res.writeHead(200, { 'content-type': 'application/json', ...link.replyHeaders })
      if (fault?.type === 'disconnect') {
        res.write(json.slice(0, json.length >> 1))
        await cutOff(res)
        return
      }
      if (fault?.type === 'stall') await Promise.race([sleep(fault.ms ?? 1000), link.closed])
      res.end(cut ? json.slice(0, json.length >> 1) : json)
      return
    }

    const tps = turn.tokensPerSecond ?? script.tokensPerSecond ?? 0
    const chunkTokens = turn.chunkTokens ?? script.chunkTokens ?? 8
    const pause = tps > 0 ? (chunkTokens / tps) * 1000 : 0
    res.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      ...link.replyHeaders,
    })
    entry.firstByte = now()
    const started = performance.now()
    let n = 0
    for (const frame of wires[wire].frames(reply, chunkTokens * 4)) {
      if (entry.aborted) return
      if (fault && n === (fault.afterChunks ?? 1)) {
        if (fault.type === 'disconnect') {
          await cutOff(res)
          return
        }
        if (fault.type === 'truncate') {
          res.end()
          return
        }
        if (fault.type === 'malformed') {
          res.end('data: {"id": "broken", "choices": [{\n\n')
          return
        }
        if (fault.type === 'stream-error') {
          res.end(
            wires[wire].streamError({
              status: fault.status ?? 500,
              type: 'server_error',
              code: 'server_error',
              message: fault.message ?? 'The scripted server had an error during the stream.',
            }),
          )
          return
        }
        if (fault.type === 'stall') await Promise.race([sleep(fault.ms ?? 1000), link.closed])
      }
      n++
      if (pause) {
        // paced against the clock, so that timers' error does not add up
        const ahead = started + n * pause - performance.now()
        if (ahead > 0) await Promise.race([sleep(ahead), link.closed])
      }
      if (!res.write(frame)) await Promise.race([new Promise((r) => res.once('drain', r)), link.closed])
    }
    if (entry.aborted) return
    delivered()
    res.end()
  }

  function summary(entries) {
    const byConv = new Map()
    for (const e of entries) {
      if (!byConv.has(e.conv)) byConv.set(e.conv, [])
      byConv.get(e.conv).push(e)
    }
    const stats = (list) => {
      const s = list.filter((x) => x != null).sort((a, b) => a - b)
      return {
        n: s.length,
        min: round(s[0]),
        median: round(quantile(s, 0.5)),
        p95: round(quantile(s, 0.95)),
        max: round(s.at(-1)),
      }
    }
    const describe = (list) => {
      const turns = list.filter((e) => e.kind !== 'side' && e.prefixBytes !== undefined)
      const shares = turns.map((e) => e.prefixShare).filter((x) => x != null)
      return {
        requests: list.length,
        turns: turns.length,
        side: list.filter((e) => e.kind === 'side').length,
        faults: list.filter((e) => e.fault).length,
        errors: list.filter((e) => e.status >= 400).length,
        aborted: list.filter((e) => e.aborted).length,
        expectFailed: list.filter((e) => e.expectFailed !== undefined).length,
        bytes: list.reduce((a, e) => a + (e.bytes ?? 0), 0),
        firstBytes: turns[0]?.bytes ?? null,
        lastBytes: turns.at(-1)?.bytes ?? null,
        promptTokens: list.reduce((a, e) => a + (e.promptTokens ?? 0), 0),
        completionTokens: list.reduce((a, e) => a + (e.completionTokens ?? 0), 0),
        prefixShare: shares.length
          ? {
              mean: round(shares.reduce((a, b) => a + b, 0) / shares.length, 5),
              min: round(Math.min(...shares), 5),
              whole: shares.filter((x) => x === 1).length,
              of: shares.length,
            }
          : null,
        gapMs: stats(turns.map((e) => e.gapMs)),
        from: list[0]?.recvStart ?? null,
        to: list.at(-1)?.done ?? null,
      }
    }
    const u = process.cpuUsage(cpu0)
    return {
      summary: {
        ...describe(entries),
        conversations: byConv.size,
        inFlight,
        peakInFlight: peak,
        serverCpuMs: round((u.user + u.system) / 1000, 1),
      },
      conversations: Object.fromEntries([...byConv].map(([k, list]) => [k, describe(list)])),
    }
  }

  const sendJson = (res, status, value, headers = {}) => {
    const s = typeof value === 'string' ? value : JSON.stringify(value)
    res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(s), ...headers })
    res.end(s)
  }

  async function readBody(message) {
    const chunks = []
    let size = 0
    for await (const c of message) {
      size += c.length
      if (size <= maxBody) chunks.push(c) // past the limit the rest is read and dropped
    }
    if (size > maxBody)
      throw new HttpError({ status: 413, type: 'invalid_request_error', message: `request body over ${maxBody} bytes` })
    const raw = Buffer.concat(chunks)
    const coding = message.headers['content-encoding'] ?? 'identity'
    const how = {
      identity: (x) => x,
      gzip: zlib.gunzipSync,
      deflate: zlib.inflateSync,
      br: zlib.brotliDecompressSync,
      zstd: zlib.zstdDecompressSync,
    }[coding]
    if (!how)
      throw new HttpError({
        status: 415,
        type: 'invalid_request_error',
        message: `content-encoding ${coding} is not supported`,
      })
    return how(raw)
  }

  async function handle(message, res) {
    const url = new URL(message.url, 'http://x')
    const path = url.pathname.replace(/\/+$/, '') || '/'
    const method = message.method
    const gemini = /\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens)$/.exec(path)
    const wire = gemini
      ? 'gemini'
      : path.endsWith('/chat/completions')
        ? 'chat'
        : path.endsWith('/responses')
          ? 'responses'
          : /\/messages(\/count_tokens)?$/.test(path)
            ? 'messages'
            : null

    if (!wire || method !== 'POST') {
      let m
      if (method === 'GET' && path === '/log') {
        const conv = url.searchParams.get('conv')
        const since = Number(url.searchParams.get('since') ?? 0)
        const entries = log.filter((e) => e.n >= since && (conv == null || e.conv === conv))
        return sendJson(res, 200, {
          ...summary(entries),
          ...(url.searchParams.get('summary') ? {} : { dropped: first, requests: entries }),
        })
      }
      if (method === 'DELETE' && path === '/log') {
        log = []
        first = 0
        peak = inFlight
        conversations = new Map()
        responses = new Map()
        bodies.clear()
        for (const g of gates.values()) g.open()
        gates = new Map()
        return sendJson(res, 200, { ok: true })
      }
      if (method === 'GET' && (m = /^\/log\/(\d+)\/body$/.exec(path))) {
        const body = bodies.get(Number(m[1]))
        return body
          ? sendJson(res, 200, body.toString())
          : sendJson(res, 404, { error: { message: 'that body is not kept' } })
      }
      if (method === 'POST' && (m = /^\/release\/(.+)$/.exec(path))) {
        gate(decodeURIComponent(m[1])).open()
        return sendJson(res, 200, { ok: true })
      }
      if (method === 'PUT' && path === '/script') {
        try {
          scripts = checkScript(JSON.parse((await readBody(message)).toString()))
        } catch (e) {
          return sendJson(res, 400, { error: { message: e.message } })
        }
        return sendJson(res, 200, { ok: true })
      }
      if (method === 'GET' && path === '/healthz') {
        res.writeHead(200, { 'content-type': 'text/plain' })
        return res.end('ok')
      }
      if (method === 'GET' && path.endsWith('/models')) {
        const names = scripts[''].models ?? [scripts[''].model ?? 'scripted-1']
        return sendJson(res, 200, {
          object: 'list',
          data: names.map((id) => ({
            id,
            object: 'model',
            created: 0,
            owned_by: 'scripted',
            type: 'model',
            display_name: id,
          })),
          has_more: false,
        })
      }
      message.resume()
      if (method === 'HEAD') {
        res.writeHead(200)
        return res.end()
      }
      return sendJson(res, 404, { error: { message: `nothing at ${method} ${path}`, type: 'invalid_request_error' } })
    }

    const entry = { n: counter++, wire, recvStart: now() }
    let raw
    inFlight++
    peak = Math.max(peak, inFlight)
    const link = {
      res,
      headers: message.headers,
      replyHeaders: { 'x-request-id': `req_${entry.n}`, 'request-id': `req_${entry.n}` },
      urlModel: gemini?.[1],
      urlStream: gemini?.[2] === 'streamGenerateContent',
    }
    res.once('finish', () => {
      entry.done = now()
      if (entry.turn != null) conversation(entry.conv).done = entry.done
    })
    link.closed = new Promise((r) =>
      res.once('close', () => {
        entry.done ??= now()
        if (!res.writableFinished && !entry.fault) entry.aborted = true
        r()
      }),
    )
    try {
      raw = await readBody(message)
      entry.recvEnd = now()
      entry.bytes = raw.length
      if (keepBodies > 0) {
        bodies.set(entry.n, raw)
        bodies.delete(entry.n - keepBodies)
      }
      let body
      const text = raw.toString()
      try {
        body = JSON.parse(text)
      } catch {
        throw new HttpError({ status: 400, type: 'invalid_request_error', message: 'the request body is not JSON' })
      }
      if (path.endsWith('/count_tokens') || gemini?.[2] === 'countTokens') {
        const n = tokensOf(parsers[wire](body, text).prompt.reduce((a, p) => a + JSON.stringify(p).length, 0))
        Object.assign(entry, { conv: null, kind: 'side', status: 200 })
        sendJson(res, 200, gemini ? { totalTokens: n } : { input_tokens: n })
      } else {
        await complete(wire, body, text, link, entry)
      }
    } catch (e) {
      entry.recvEnd ??= now()
      const err =
        e instanceof HttpError ? e : { status: 500, type: 'server_error', message: `scripted-llm: ${e.stack}` }
      if (!(e instanceof HttpError)) console.error(e)
      entry.status = err.status
      if (!entry.fault) entry.kind = 'error'
      entry.error = err.message
      if (res.headersSent) res.socket?.destroy()
      else
        sendJson(res, err.status, wires[wire].error(err), {
          ...link.replyHeaders,
          ...(err.retryAfter !== undefined ? { 'retry-after': String(err.retryAfter) } : {}),
        })
    }
    await link.closed
    inFlight--
    record(entry)
  }

  const server = http.createServer({ keepAliveTimeout: 120000, requestTimeout: 0 }, (message, res) => {
    res.socket?.setNoDelay(true)
    handle(message, res).catch((e) => {
      console.error(e)
      res.socket?.destroy()
    })
  })
  await new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve)
  })
  const { port } = server.address()
  const host = options.host ?? '127.0.0.1'
  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    log: () => ({ ...summary(log), requests: log }),
    setScript: (s) => {
      scripts = checkScript(s)
    },
    release: (name) => gate(name).open(),
    close: () =>
      new Promise((r) => {
        server.closeAllConnections()
        server.close(() => {
          logStream?.end()
          r()
        })
      }),
  }
}

// ---------------------------------------------------------------- command line
function parseFlags(argv) {
  const names = {
    '--script': 'script',
    '--port': 'port',
    '--host': 'host',
    '--port-file': 'portFile',
    '--log-file': 'logFile',
    '--log-max': 'logMax',
    '--keep-bodies': 'keepBodies',
    '--max-body-mib': 'maxBodyMib',
    '--conversation-header': 'conversationHeader',
  }
  const out = {}
  for (let i = 0; i < argv.length; i++) {
    const [flag, inline] = argv[i].split(/=(.*)/s)
    if (flag === '--help' || flag === '-h') out.help = true
    else if (flag === '--quiet') out.quiet = true
    else if (names[flag]) {
      const value = inline ?? argv[++i]
      if (value === undefined) throw new Error(`${flag} needs a value`)
      const number = ['port', 'logMax', 'keepBodies', 'maxBodyMib'].includes(names[flag])
      if (number && !/^\d+$/.test(value)) throw new Error(`${flag} needs a whole number, not "${value}"`)
      out[names[flag]] = number ? Number(value) : value
    } else throw new Error(`unknown flag ${argv[i]} (see --help)`)
  }
  return out
}

async function main() {
  let flags, llm
  try {
    flags = parseFlags(process.argv.slice(2))
    if (flags.help) {
      process.stdout.write(HELP)
      return
    }
    if (flags.script) {
      const text = readFileSync(flags.script, 'utf8')
      try {
        flags.script = JSON.parse(text)
      } catch (e) {
        throw new Error(`${flags.script}: ${e.message}`)
      }
    }
    llm = await startScriptedLlm(flags)
  } catch (e) {
    process.stderr.write(`scripted-llm: ${e.message}\n`)
    process.exitCode = 2
    return
  }
  if (flags.portFile) writeFileSync(flags.portFile, `${llm.port}\n`)
  if (!flags.quiet) process.stdout.write(`${JSON.stringify({ url: llm.url, port: llm.port, pid: process.pid })}\n`)
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => llm.close().then(() => process.exit(0)))
  process.once('disconnect', () => process.exit(0))
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await main()

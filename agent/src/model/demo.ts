import type { Usage } from '@parley/contract/events'
import type { Clock } from '@parley/store/clock'
import type { Message, Model, ModelPart, ModelRequest, ToolDefinition } from './model.ts'

/*
 * `parley/demo`: no language model, a script. It gives a newcomer a first run without a key: it uses the real terminal, says
 * what it is, and how to get a real model.
 */

interface Step {
  text: string
  /** For the terminal; null ends the turn. */
  command: string | null
}

const whatIAm =
  'I am the demo model: a script, not a language model. I need no key, I understand very little, and I am here so that you can see how a conversation runs.'
const realModel =
  'For real work choose a model in the settings (for example `anthropic/claude-sonnet-4-5` or `openai/gpt-5`) and enter its API key, or give the base URL of a server of your own, such as Ollama or vLLM.'
const abilities = 'I can run a command for you: write `run` and the command, for example `run git status`.'

const fileName = 'hello-from-parley.md'
const writeFile = `cat > ${fileName} <<'END'
# Hello from Parley

This file was written by the demo model in a sandbox of its own.
END`

const firstRun: readonly Step[] = [
  { text: `${whatIAm}\n\n${realModel}\n\nFirst I look at the workspace.`, command: 'pwd && ls -la' },
  { text: `Now I write a small file, \`${fileName}\`.`, command: writeFile },
  { text: 'And I show it.', command: `cat ${fileName}` },
  {
    text: `That was a whole run: I looked, I wrote \`${fileName}\`, and I checked it. Every command and its output is an event of this conversation, and the file is in the workspace.\n\n${abilities}`,
    command: null,
  },
]

const wordsAtOnce = 3
const pauseMs = 12

export function demoModel(clock: Clock): Model {
  return {
    name: 'parley/demo',
    contextWindow: 128_000,
    vision: false,
    cost: () => 0,
    async *stream(request, signal): AsyncGenerator<ModelPart> {
      signal.throwIfAborted()
      const terminal = request.toolChoice === 'none' ? undefined : request.tools.find(isTerminal)
      const { text, command } = next(request, terminal !== undefined)
      for (const chunk of text.match(new RegExp(`(\\S*\\s*){${wordsAtOnce}}|.+$`, 'gs')) ?? []) {
        if (chunk === '') continue
        await clock.sleep(pauseMs, signal)
        yield { type: 'text', text: chunk }
      }
      const json = JSON.stringify(terminal === undefined ? {} : argumentsFor(terminal, command ?? ''))
      const called = terminal !== undefined && command !== null
      if (called) yield { type: 'tool-call', id: `call_${clock.id()}`, name: terminal.name, arguments: json }
      const usage = estimate(request, text.length + (called ? json.length : 0))
      yield { type: 'finish', reason: called ? 'tools' : 'stop', usage, responseId: `demo_${clock.id()}` }
    },
  }
}

/** Where the script stands follows from the history alone, so a run that is taken over goes on at the right place. */
function next({ messages, tools }: ModelRequest, hasTerminal: boolean): Step {
  if (tools.length === 0) return { text: 'A conversation with the demo model', command: null }
  if (!hasTerminal) return { text: `${whatIAm}\n\n${realModel}`, command: null }
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  const done = messages.slice(asked + 1).filter(({ role }) => role === 'assistant').length
  const ranBefore = messages.slice(0, Math.max(0, asked)).some(({ role }) => role === 'assistant')
  if (!ranBefore) return firstRun[Math.min(done, firstRun.length - 1)] ?? { text: abilities, command: null }
  return followUp(messages[asked], done)
}

function followUp(message: Message | undefined, done: number): Step {
  if (done > 0) return { text: `Done; the output is above. ${abilities}`, command: null }
  const text = (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  const command = text.split('\n').map(commandIn).find(Boolean)
  if (command !== undefined) return { text: `I run \`${command}\`.`, command }
  return {
    text: `I am still the demo model and cannot work that out: I only follow a script. ${abilities}\n\n${realModel}`,
    command: null,
  }
}

/** Of a line such as: run `ls -l`. Line by line, so that a message of nothing but space is read once and not over and over. */
const commandIn = (line: string): string | undefined =>
  /^`?run[:\s]+(.*)$/i.exec(line.trim())?.[1]?.trimStart().replace(/^`/, '').replace(/`$/, '').trim()

const properties = ({ schema }: ToolDefinition) => (schema['properties'] ?? {}) as Record<string, unknown>

const isTerminal = (tool: ToolDefinition) =>
  /^(terminal|execute_bash|bash|shell)$/.test(tool.name) && 'command' in properties(tool)

function argumentsFor(terminal: ToolDefinition, command: string) {
  const known = properties(terminal)
  return {
    command,
    ...('security_risk' in known ? { security_risk: 'LOW' } : {}),
    ...('summary' in known ? { summary: 'A step of the demo' } : {}),
  }
}

function estimate({ messages }: ModelRequest, written: number): Usage {
  const length = (part: Message['parts'][number]) => (part.type === 'text' ? part.text.length : 40)
  const read = messages.reduce((sum, { parts }) => sum + parts.reduce((n, part) => n + length(part), 0), 0)
  return {
    prompt_tokens: Math.ceil(read / 4),
    completion_tokens: Math.ceil(written / 4),
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
  }
}

import type { AgentType } from '@parley/contract/start-request'
import { applyPatch } from './apply-patch.ts'
import { fileEditor } from './file-editor.ts'
import { finish } from './finish.ts'
import { glob } from './glob.ts'
import { grep } from './grep.ts'
import { planFile, planningFileEditor } from './planning-file-editor.ts'
import { taskTracker } from './task-tracker.ts'
import { terminal } from './terminal.ts'
import { think } from './think.ts'
import type { Tool } from './tool.ts'
import { webFetch } from './web-fetch.ts'
import { webSearch } from './web-search.ts'

/** What an agent has unless something else is said, in the order the model is told of them. */
export const tools: readonly Tool[] = [terminal, fileEditor, taskTracker, think, finish]

export interface ToolChoice {
  /** `plan`: looks at everything, and writes one file. */
  agentType: AgentType
  /** Kind of Git host, which decides where a plan is written. */
  provider: string | null
  /**
   * The web is open to those who have given a key for searching it. It is not by default: what a page says can make a model
   * send what it knows to another page.
   */
  web: { fetch: typeof fetch; key: string } | null
}

/** The tools of one conversation. */
export function toolsFor({ agentType, provider, web }: ToolChoice): readonly Tool[] {
  const online = web === null ? [] : [webSearch(web), webFetch(web.fetch)]
  if (agentType === 'plan') return [glob, grep, planningFileEditor(planFile(provider)), ...online, think, finish]
  return online.length === 0 ? tools : [terminal, fileEditor, taskTracker, ...online, think, finish]
}

const known = [...tools, glob, grep, applyPatch, planningFileEditor(planFile(null))]

/**
 * The tools that settings name (`terminal`, `TerminalTool`, `execute_bash` …) and the built-in ones, each once, in our order.
 * Without names: the usual ones. Names that nobody knows are given back. `builtIn`: names of those that are there anyway.
 */
export function chooseTools(
  names: readonly string[] | null,
  builtIn: readonly string[] = ['FinishTool', 'ThinkTool'],
): { chosen: readonly Tool[]; unknown: string[] } {
  const is = (tool: Tool, name: string) => tool.name === name || tool.aliases.includes(name)
  const wanted = [...(names ?? tools.map((tool) => tool.name)), ...builtIn]
  const first = (name: string) => known.find((tool) => is(tool, name))
  const found = new Set(wanted.map(first))
  return {
    chosen: known.filter((tool) => found.has(tool)),
    unknown: (names ?? []).filter((name) => first(name) === undefined),
  }
}

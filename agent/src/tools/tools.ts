import type { AgentType } from '@parley/contract/start-request'
import { browser } from '../browser/browser.ts'
import type { Children } from '../delegate/children.ts'
import { delegate } from '../delegate/delegate.ts'
import { applyPatch } from './apply-patch.ts'
import { fileEditor } from './file-editor.ts'
import { fileViewer } from './file-viewer.ts'
import { finish } from './finish.ts'
import { glob } from './glob.ts'
import { grep } from './grep.ts'
import { nameFilter } from './name-filter.ts'
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
  /** The path of the sandbox's browser; null: it has none. */
  browser: string | null
  /** Null: this agent has no sub-agents. */
  children: Children | null
  /** Sub-agents beside the built-in ones. */
  agents: readonly string[]
  /** Tools by any of their names (`terminal`, `TerminalTool`, `execute_bash` …), in the place of the usual ones; null: those. */
  names: readonly string[] | null
  /** Names of those that are there whatever else is said. */
  builtIn: readonly string[]
  /** A regular expression that names of other tools must match somewhere; null: all may stay. */
  filter: string | null
}

/** The tools of one conversation, each once, in our order. */
export function toolsFor(choice: ToolChoice): readonly Tool[] {
  const { agentType, provider, web, browser: seen, children, agents, names, builtIn, filter } = choice
  const online = web === null ? [] : [webSearch(web), webFetch(web.fetch)]
  const plan = planningFileEditor(planFile(provider))
  const pages = seen === null ? [] : [browser(seen)]
  const helpers = children === null ? [] : [delegate(children, agents)]
  const usual: readonly Tool[] =
    agentType === 'plan'
      ? [glob, grep, plan, ...online]
      : [terminal, fileEditor, taskTracker, ...online, ...pages, ...helpers]
  // A planning agent changes nothing, whatever it is given.
  const others: readonly Tool[] = agentType === 'plan' ? [fileViewer] : [glob, grep, fileViewer, applyPatch, plan]
  const passes = nameFilter(filter)
  const all = [...usual, ...others.filter((tool) => !usual.includes(tool)), think, finish]
  const called = (name: string) => all.find((tool) => tool.name === name) ?? all.find((tool) => isCalled(tool, name))
  const kept = new Set(builtIn.map(called))
  const wanted = names === null ? new Set(usual) : new Set(names.map(called))
  return all.filter((tool) => kept.has(tool) || (wanted.has(tool) && passes(tool.name)))
}

/** What is there unless it is left out. */
export const builtInTools: readonly string[] = ['FinishTool', 'ThinkTool']

/** Whether some agent could have a tool of this name. */
export const isKnownTool = (name: string): boolean => canonicalTool(name) !== null

/** What others call tools of ours. */
const others: Readonly<Record<string, string>> = {
  read: 'file_viewer',
  write: 'file_editor',
  multiedit: 'file_editor',
  ls: 'glob',
  todowrite: 'task_tracker',
  websearch: 'web_search',
  webfetch: 'web_fetch',
}

/** Our name of the tool that some agent could have under this one; null when there is none. */
export function canonicalTool(name: string): string | null {
  const web = { fetch, key: '' }
  const children: Children = { work: () => Promise.reject(new Error('there are none')) }
  const ours = others[name.toLowerCase()] ?? name.toLowerCase()
  const all = { provider: null, web, browser: '', children, agents: [], names: [ours], builtIn: [], filter: null }
  return toolsFor({ ...all, agentType: 'default' })[0]?.name ?? null
}

const isCalled = (tool: Tool, name: string): boolean =>
  tool.aliases.some((one) => one.toLowerCase() === name.toLowerCase())

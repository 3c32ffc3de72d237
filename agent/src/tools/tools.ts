import { fileEditor } from './file-editor.ts'
import { finish } from './finish.ts'
import { taskTracker } from './task-tracker.ts'
import { terminal } from './terminal.ts'
import { think } from './think.ts'
import type { Tool } from './tool.ts'

/** Every tool of ours, in the order the model is told of them. */
export const tools: readonly Tool[] = [terminal, fileEditor, taskTracker, think, finish]

/**
 * The tools that settings name (`terminal`, `TerminalTool`, `execute_bash` …) and the built-in ones, each once, in our order.
 * Without names: all. Names that nobody knows are given back.
 */
export function chooseTools(names: readonly string[] | null): { chosen: readonly Tool[]; unknown: string[] } {
  if (names === null) return { chosen: tools, unknown: [] }
  const is = (tool: Tool, name: string) => tool.name === name || tool.aliases.includes(name)
  const builtIn = (tool: Tool) => tool.name === 'finish' || tool.name === 'think'
  return {
    chosen: tools.filter((tool) => builtIn(tool) || names.some((name) => is(tool, name))),
    unknown: names.filter((name) => !tools.some((tool) => is(tool, name))),
  }
}

import type { Analyzer, Finding, Judged } from './analyzer.ts'
import { higher } from './levels.ts'
import { commandRules, pathRules, type Rule } from './rules.ts'

/** A command beyond it is read at its head and its tail, and counts as risky for what was not read. */
const mostCharacters = 20_000

const commandKeys = ['command', 'cmd', 'script', 'code']
const pathKeys = ['path', 'file_path', 'filename', 'file']
/** Their `command` is the name of a verb. */
const noCommands: ReadonlySet<string> = new Set(['file_editor', 'planning_file_editor', 'task_tracker'])

/** The rule of the highest level that fits, or null. Costs microseconds. */
export function ruleFor({ toolName, input }: Pick<Judged, 'toolName' | 'input'>): Pick<Rule, 'name' | 'level'> | null {
  const commands = noCommands.has(toolName) ? [] : texts(input, commandKeys)
  const found = [
    ...commands.flatMap((text) => fitting(commandRules, text)),
    ...texts(input, pathKeys).flatMap((text) => fitting(pathRules, text)),
  ]
  return found.reduce<Pick<Rule, 'name' | 'level'> | null>(
    (most, one) => (most === null || higher(most.level, one.level) !== most.level ? one : most),
    null,
  )
}

const texts = (input: Record<string, unknown>, keys: readonly string[]): string[] =>
  keys.flatMap((key) => {
    const value = input[key]
    return typeof value === 'string' ? [value] : []
  })

function fitting(rules: readonly Rule[], whole: string): Pick<Rule, 'name' | 'level'>[] {
  const long = whole.length > mostCharacters
  const text = long ? whole.slice(0, mostCharacters / 2) + whole.slice(-mostCharacters / 2) : whole
  const found = rules.filter(({ pattern }) => pattern.test(joined(text)))
  return long ? [...found, { name: 'too long to read', level: 'MEDIUM' }] : found
}

/** A line that goes on after a backslash is one line to a shell. */
const joined = (text: string): string => text.replaceAll('\\\n', ' ')

/** Judges by the rules alone: what fits none of them is LOW. */
export const patternAnalyzer: Analyzer = {
  kind: 'PatternSecurityAnalyzer',
  asksModel: false,
  outside: false,
  judge(action): Promise<Finding> {
    const rule = ruleFor(action)
    return Promise.resolve({ level: rule?.level ?? 'LOW', source: 'rules', score: null, reason: rule?.name ?? null })
  },
}

import type { Kinded, LogEvent } from '@parley/contract/events'
import { t } from '../i18n/translate.ts'
import type { IconName } from '../ui/Icon.tsx'
import type { Outcome } from './timeline.ts'

type Action = Extract<LogEvent, { kind: 'ActionEvent' }>

interface Title {
  verb: string
  what: string
}

const word = (value: unknown): string => (typeof value === 'string' ? value : '')

const editorVerbs = {
  view: 'tool.view',
  create: 'tool.create',
  str_replace: 'tool.edit',
  insert: 'tool.edit',
  undo_edit: 'tool.undo',
} as const
const isVerb = (command: string): command is keyof typeof editorVerbs => Object.hasOwn(editorVerbs, command)

function edited({ command, path }: Kinded): Title {
  const verb = word(command)
  return { verb: isVerb(verb) ? t(editorVerbs[verb]) : verb, what: word(path) }
}

/** The files that a patch names, in the order of the patch. */
export const patchedFiles = (patch: string): string[] =>
  [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map(([, path = '']) => path)

function planned({ task_list }: Kinded): Title {
  if (!Array.isArray(task_list)) return { verb: t('tool.plan'), what: '' }
  const done = task_list.filter((task: { status?: unknown }) => task.status === 'done').length
  return { verb: t('tool.plan'), what: t('tool.plan-of', { done, all: task_list.length }) }
}

/** How the actions of the agent's own tools are called. */
const titles: Record<string, (action: Kinded) => Title> = {
  TerminalAction: ({ command }) => ({ verb: '$', what: word(command) || t('tool.waits-for-output') }),
  FileEditorAction: edited,
  PlanningFileEditorAction: edited,
  ApplyPatchAction: ({ patch }) => ({ verb: t('tool.patch'), what: patchedFiles(word(patch)).join(', ') }),
  GlobAction: ({ pattern }) => ({ verb: t('tool.find'), what: word(pattern) }),
  GrepAction: ({ pattern }) => ({ verb: t('tool.search'), what: word(pattern) }),
  WebSearchAction: ({ query }) => ({ verb: t('tool.web'), what: word(query) }),
  TaskTrackerAction: planned,
}

const icons: Record<string, IconName> = {
  TerminalAction: 'terminal',
  FileEditorAction: 'pencil',
  PlanningFileEditorAction: 'pencil',
  ApplyPatchAction: 'diff',
  GlobAction: 'folder',
  GrepAction: 'search',
  WebSearchAction: 'globe',
  TaskTrackerAction: 'list',
}

/** What kind of thing it is, as a picture. */
export function iconOf({ action }: Action): IconName {
  if (action === null) return 'spark'
  if (action['command'] === 'view' && action.kind !== 'TerminalAction') return 'eye'
  return icons[action.kind] ?? (typeof action['url'] === 'string' ? 'globe' : 'spark')
}

/** A tool call in one line. */
export function titleOf({ action, tool_name, tool_call, summary }: Action): Title {
  const title = action === null ? undefined : titles[action.kind]
  if (action !== null && title !== undefined) return title(action)
  if (typeof action?.['url'] === 'string') return { verb: t('tool.read-page'), what: action['url'] }
  return { verb: tool_name, what: summary ?? tool_call.arguments }
}

/** How it went, in one word; null while it runs. */
export function resultOf(outcome: Outcome | null): { text: string; isBad: boolean } | null {
  if (outcome === null) return null
  if (outcome.kind === 'UserRejectObservation') return { text: t('tool.rejected'), isBad: true }
  if (outcome.kind === 'AgentErrorEvent') return { text: t('tool.failed'), isBad: true }
  const code = outcome.observation['exit_code']
  if (typeof code === 'number' && code >= 0) return { text: t('tool.exit', { code }), isBad: code !== 0 }
  return outcome.observation.is_error ? { text: t('tool.failed'), isBad: true } : { text: t('tool.done'), isBad: false }
}

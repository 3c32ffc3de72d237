import { posix } from 'node:path'
import type { Observation } from '@parley/contract/events'
import { FileError } from '@parley/sandbox/driver'
import { z } from 'zod'
import { failed, observed } from './observation.ts'
import { patched } from './patch-apply.ts'
import { parsePatchText, type Section } from './patch-text.ts'
import { newFile, readText } from './text-file.ts'
import type { Tool, ToolContext } from './tool.ts'

const kind = 'ApplyPatchObservation'

const input = z.object({ patch: z.string().describe('From *** Begin Patch to *** End Patch.') })

/** What is written and removed when every section has been found to fit. */
interface Write {
  path: string
  data: Buffer | null
}
interface Plan {
  writes: Write[]
  fuzz: number
  change: { type: Section['type']; move_path: string | null }
}

export const applyPatch: Tool<typeof input> = {
  name: 'apply_patch',
  aliases: ['ApplyPatchTool'],
  description:
    'Changes files by a patch: sections "*** Update File: path" (with "*** Move to: path", "@@ heading", lines that begin with space, - or +), "*** Add File: path" and "*** Delete File: path". Nothing is changed unless all of it fits.',
  input,
  actionKind: 'ApplyPatchAction',
  observationKind: kind,
  readOnly: false,
  resources: ({ patch }) => {
    const sections = parsePatchText(patch)
    return typeof sections === 'string' ? [] : sections.flatMap(pathsOf).map((path) => `file:${posix.normalize(path)}`)
  },
  async run({ patch }, context) {
    const sections = parsePatchText(patch)
    if (typeof sections === 'string') return refused(sections)
    const plans = new Map<string, Plan>()
    for (const section of sections) {
      const plan = await planned(section, context)
      if (typeof plan === 'string') return refused(`${section.path}: ${plan}`)
      plans.set(section.path, plan)
    }
    try {
      for (const { writes } of plans.values()) for (const write of writes) await perform(write, context)
    } catch (error) {
      if (error instanceof FileError) return refused(`A file could not be written, earlier ones were: ${error.message}`)
      throw error
    }
    return done(plans)
  },
}

const pathsOf = (section: Section): string[] =>
  section.type === 'update' && section.moveTo !== null ? [section.path, section.moveTo] : [section.path]

const refused = (text: string): Observation => failed(kind, text, { message: text, fuzz: 0, commit: null })

function done(plans: Map<string, Plan>): Observation {
  const fuzz = [...plans.values()].reduce((sum, plan) => sum + plan.fuzz, 0)
  const words = { add: 'Made', delete: 'Removed', update: 'Changed' }
  const lines = [...plans].map(
    ([path, { change }]) =>
      `${words[change.type]} ${path}${change.move_path === null ? '' : `, now ${change.move_path}`}`,
  )
  const note = fuzz === 0 ? '' : '\nSome lines differed from the patch in white space or place.'
  const message = `${lines.join('\n')}${note}`
  const changes = Object.fromEntries([...plans].map(([path, { change }]) => [path, change]))
  return observed(kind, message, { message, fuzz, commit: { changes } })
}

async function perform({ path, data }: Write, { hands }: ToolContext): Promise<void> {
  if (data === null) await hands.files.remove(path)
  else await hands.files.write(path, data)
}

/** Paths are of the working directory; a patch does not reach beyond it. */
async function planned(section: Section, context: ToolContext): Promise<Plan | string> {
  const { files } = context.hands
  const inside = (path: string) => posix.resolve(context.workingDir, path)
  for (const path of pathsOf(section)) {
    if (!inside(path).startsWith(`${context.workingDir}/`)) return `${path} is outside the working directory.`
  }
  const path = inside(section.path)
  const entry = await files.stat(path)
  if (section.type === 'add') {
    if (entry !== null) return 'It exists; use an Update File section.'
    return { writes: [{ path, data: newFile.bytes(section.text) }], fuzz: 0, change: { type: 'add', move_path: null } }
  }
  if (entry === null) return 'It does not exist.'
  if (entry.type !== 'file') return `It is a ${entry.type}.`
  if (section.type === 'delete')
    return { writes: [{ path, data: null }], fuzz: 0, change: { type: 'delete', move_path: null } }

  const file = await readText(files, path)
  if (typeof file === 'string') return file
  const result = patched(file.text, section.hunks)
  if (typeof result === 'string') return result
  const { moveTo } = section
  const data = file.bytes(result.text)
  const change = { type: section.type, move_path: moveTo }
  if (moveTo === null) return { writes: [{ path, data }], fuzz: result.fuzz, change }
  if ((await files.stat(inside(moveTo))) !== null) return `${moveTo} exists already.`
  return {
    writes: [
      { path: inside(moveTo), data },
      { path, data: null },
    ],
    fuzz: result.fuzz,
    change,
  }
}

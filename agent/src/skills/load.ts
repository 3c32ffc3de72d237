import { posix } from 'node:path'
import type { Hands } from '@parley/sandbox/driver'
import { listFiles, readFiles } from './collect.ts'
import { parseSkill, type SkillFile } from './parse.ts'
import { mergedSkills, type Skill } from './skill.ts'

/*
 * Where skills are found, weakest first: of two with one name the later one holds. The repository's own notes for agents are
 * skills that always hold; below the root they are rules for their folder.
 */

const folders = [
  '~/.openhands/microagents',
  '~/.openhands/skills',
  '~/.parley/skills',
  '~/.agents/skills',
  '.openhands/microagents',
  '.openhands/skills',
  '.parley/skills',
  '.agents/skills',
]

/** Files of notes, and the family of models that one is written for. */
const notes: Record<string, 'claude' | 'gemini' | null> = {
  'AGENTS.md': null,
  'AGENT.md': null,
  'CLAUDE.md': 'claude',
  'GEMINI.md': 'gemini',
  '.cursorrules': null,
}

const bytesOfOne = 64 * 1024
const bytesOfAll = 1024 * 1024
const mostSkills = 200
const mostResources = 100

export interface Loaded {
  skills: Skill[]
  /** What could not be loaded and why, for the user. */
  problems: string[]
}

/** `model`: as `provider/model`; notes for another family of models are left out when there are notes for all. */
export async function loadSkills(hands: Hands, dir: string, model: string, signal?: AbortSignal): Promise<Loaded> {
  const found = await listFiles(hands, dir, { folders, names: Object.keys(notes) }, signal)
  if (found.length === 0) return { skills: [], problems: [] }
  const noteFiles = chosenNotes(
    found.filter((path) => posix.basename(path) in notes && !inSkillFolder(path)),
    model,
  )
  const skillFiles = folders.flatMap((folder) => skillsBelow(found, folder))
  return read(hands, dir, [...noteFiles, ...skillFiles], signal)
}

/** The skills below one folder, such as a plugin's. */
export async function loadSkillFolder(
  hands: Hands,
  dir: string,
  folder: string,
  signal?: AbortSignal,
): Promise<Loaded> {
  const found = await listFiles(hands, dir, { folders: [folder], names: [] }, signal)
  return read(hands, dir, skillsBelow(found, folder), signal)
}

const inSkillFolder = (path: string): boolean =>
  folders.some((folder) => path.includes(folder.replace('~/', '/')) || path.startsWith(folder))

type Found = Omit<SkillFile, 'text'> & { rule: string | null }

/** Notes of the root hold always; notes of a folder below it hold for what is in there. */
function chosenNotes(paths: readonly string[], model: string): Found[] {
  const byFolder = Map.groupBy(paths, (path) => posix.dirname(path))
  return [...byFolder].flatMap(([folder, files]) => {
    const forAll = files.some((path) => notes[posix.basename(path)] === null)
    const wanted = files.filter((path) => {
      const family = notes[posix.basename(path)]
      return family === null || family === undefined || !forAll || model.toLowerCase().includes(family)
    })
    const order = Object.keys(notes)
    wanted.sort((a, b) => order.indexOf(posix.basename(a)) - order.indexOf(posix.basename(b)))
    return wanted.map((path): Found => {
      const name = posix.basename(path).replace(/^\./, '').replace(/\.md$/, '').toLowerCase()
      const nested = folder !== '.'
      return { name: nested ? `${name}:${folder}` : name, path, folder: null, rule: nested ? `${folder}/**` : null }
    })
  })
}

/** `name.md`, and `name/SKILL.md` with the other files of its folder. */
function skillsBelow(found: readonly string[], folder: string): Found[] {
  const place = folder.startsWith('~/') ? `/${folder.slice(2)}/` : `${folder}/`
  const below = found.flatMap((path) => {
    const at = folder.startsWith('~/')
      ? path.startsWith('/')
        ? path.indexOf(place)
        : -1
      : path.startsWith(place)
        ? 0
        : -1
    return at < 0 ? [] : [{ path, rest: path.slice(at + place.length) }]
  })
  const own = below.filter(({ rest }) => posix.basename(rest).toLowerCase() === 'skill.md' && rest.includes('/'))
  const homes = own.map(({ path }) => `${posix.dirname(path)}/`)
  const plain = below.filter(
    ({ path, rest }) =>
      rest.endsWith('.md') && !/(^|\/)readme\.md$/i.test(rest) && !homes.some((home) => path.startsWith(home)),
  )
  return [
    ...plain.map(({ path, rest }): Found => ({ name: rest.replace(/\.md$/, ''), path, folder: null, rule: null })),
    ...own.map(({ path, rest }): Found => {
      const home = `${posix.dirname(path)}/`
      const beside = below.filter((one) => one.path.startsWith(home) && one.path !== path)
      const resources = beside.map((one) => one.path.slice(home.length)).slice(0, mostResources)
      return { name: posix.basename(posix.dirname(rest)), path, folder: resources, rule: null }
    }),
  ].sort((a, b) => (a.path < b.path ? -1 : 1))
}

async function read(hands: Hands, dir: string, files: Found[], signal?: AbortSignal): Promise<Loaded> {
  const problems: string[] = []
  if (files.length > mostSkills)
    problems.push(`${files.length - mostSkills} of ${files.length} skills: more than ${mostSkills}`)
  const texts = await readFiles(
    hands,
    dir,
    files.slice(0, mostSkills).map(({ path }) => path),
    bytesOfOne,
    signal,
  )
  const lists: Skill[][] = []
  const seen = new Set<string>()
  let size = 0
  for (const { rule, ...file } of files.slice(0, mostSkills)) {
    const text = texts.get(file.path)
    // A note that is a link to another, or a copy of it, is told once.
    if (text === undefined || text.trim() === '' || (file.folder === null && seen.has(text))) continue
    seen.add(text)
    const cut = Buffer.byteLength(text) >= bytesOfOne ? `${text}\n[cut at 64 KiB]` : text
    const skill = parseSkill({ ...file, path: absolute(dir, file.path), text: cut })
    size += text.length
    if (size > bytesOfAll) problems.push(`${file.path}: the skills are more than 1 MiB together`)
    else if (typeof skill === 'string') problems.push(skill)
    else lists.push([rule === null ? skill : { ...skill, trigger: { type: 'path', paths: [rule] } }])
  }
  return { skills: mergedSkills(lists), problems }
}

const absolute = (dir: string, path: string): string => posix.resolve(dir, path)

import { posix } from 'node:path'
import type { Hands } from '@parley/sandbox/driver'
import { listFiles, readFiles } from '../skills/collect.ts'
import { type AgentDefinition, mergedAgents, parseAgent, type Referable } from './definition.ts'

/** Weakest first. */
const folders = ['~/.agents/agents', '.parley/agents', '.agents/agents']

const bytesOfOne = 64 * 1024
const mostAgents = 50

export interface LoadedAgents {
  agents: AgentDefinition[]
  /** What could not be loaded or is left out, for the user. */
  problems: string[]
}

/** The sub-agents that the folder of a repository describes, in folders of it, the weakest first. */
export async function loadAgents(
  hands: Hands,
  dir: string,
  referable: Referable,
  signal?: AbortSignal,
  from: readonly string[] = folders,
): Promise<LoadedAgents> {
  const found = (await listFiles(hands, dir, { folders: from, names: [] }, signal)).filter((path) =>
    path.endsWith('.md'),
  )
  const strength = (path: string) => from.findIndex((folder) => path.startsWith(folder))
  const paths = found.toSorted((a, b) => strength(a) - strength(b) || (a < b ? -1 : 1)).slice(0, mostAgents)
  const texts = await readFiles(hands, dir, paths, bytesOfOne, signal)
  return agentsIn(new Map(paths.map((path) => [path, texts.get(path) ?? ''])), dir, referable)
}

/** `texts` by path, later ones win; a path is relative to `dir`. */
export function agentsIn(texts: ReadonlyMap<string, string>, dir: string, referable: Referable): LoadedAgents {
  const read = [...texts].map(([path, text]) =>
    parseAgent({ name: posix.basename(path, '.md'), path: posix.resolve(dir, path), text }, referable),
  )
  return {
    agents: mergedAgents([read.flatMap(({ definition }) => definition ?? [])]),
    problems: read.flatMap(({ problems }) => problems),
  }
}

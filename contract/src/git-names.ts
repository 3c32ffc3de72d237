import { z } from 'zod'

/*
 * Names that end up as operands of git. They are checked here, at the door, by the rules of `git check-ref-format`, so
 * that nothing behind the door ever sees an option, a shell character or a path that leaves its folder.
 */

/** Space, tilde, caret, colon, question mark, asterisk, bracket, backslash: not allowed anywhere in a ref. */
const forbiddenInRef = /[\s~^:?*[\\\p{Cc}\p{Cf}\p{Cs}]/u
/** Legal for git, but never part of a branch that a person made; they are the raw material of shell injection. */
const shellCharacters = /[$`;&|<>"'!(){}]/

/** What is wrong with `name` as a branch; undefined when nothing is. */
export function branchProblem(name: string): string | undefined {
  if (name.length === 0) return 'must not be empty'
  if (new TextEncoder().encode(name).length > 244) return 'must be at most 244 bytes'
  if (name.startsWith('-')) return 'must not start with a dash'
  if (forbiddenInRef.test(name)) return 'has a character that Git does not allow in a branch name'
  if (shellCharacters.test(name)) return 'has a character that is not accepted in a branch name'
  if (name.includes('..') || name.includes('@{') || name === '@' || name === 'HEAD') return 'is not a branch name'
  if (name.startsWith('/') || name.endsWith('/') || name.includes('//')) return 'has an empty part'
  if (name.endsWith('.')) return 'must not end with a dot'
  const badPart = name.split('/').some((part) => part.startsWith('.') || part.endsWith('.lock'))
  return badPart ? 'has a part that starts with a dot or ends with .lock' : undefined
}

/** True when `name` can be checked out as a branch. Pure; no repository is asked. */
export const branchName = (name: string): boolean => branchProblem(name) === undefined

/** What is wrong with `name` as `owner/name`; undefined when nothing is. Some hosts write a person's own place as `~person`. */
export function repositoryProblem(name: string): string | undefined {
  if (name.length > 256) return 'must be at most 256 characters'
  if (!/^~?[\w.-]+\/[\w.-]+$/.test(name) || name.endsWith('\n')) return 'must have the form owner/name'
  const parts = name.split('/')
  if (parts.some((part) => /^~?\.+$/.test(part))) return 'has a part that is only dots'
  if (parts.some((part) => part.startsWith('-'))) return 'has a part that starts with a dash'
  return undefined
}

/** True when `name` is `owner/name`. Whether it exists is for the forge to say. */
export const repositoryName = (name: string): boolean => repositoryProblem(name) === undefined

const checked = (problem: (text: string) => string | undefined, max: number) =>
  z
    .string()
    .max(max)
    .superRefine((text, ctx) => {
      const message = problem(text)
      if (message !== undefined) ctx.addIssue({ code: 'custom', message })
    })

export const BranchName = checked(branchProblem, 244).meta({ description: 'A branch name that Git accepts.' })
export const RepositoryName = checked(repositoryProblem, 256).meta({ description: 'A repository as `owner/name`.' })

/** A branch, tag or commit to fetch: the rules of a branch hold for all three. */
export const GitRef = checked(branchProblem, 244).meta({ description: 'A branch, tag or commit.' })

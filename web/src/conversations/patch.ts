import { createTwoFilesPatch } from 'diff'

/** The differences of two texts as a patch that `git apply` takes. An absent side is a file that is not there. */
export function patchOf(path: string, original: string | null, modified: string | null): string {
  const from = original === null ? '/dev/null' : `a/${path}`
  const to = modified === null ? '/dev/null' : `b/${path}`
  const patch = createTwoFilesPatch(from, to, original ?? '', modified ?? '', undefined, undefined, {
    context: 3,
    timeout: 2000,
  })
  return patch === undefined ? '' : `diff --git a/${path} b/${path}\n${patch.replace(/^=+\n/, '')}`
}

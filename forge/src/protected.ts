import { ForgeError } from './forge.ts'

/**
 * Whether a branch is protected, by the patterns that `read` finds. Who does not administrate a repository may not read its
 * rules at some forges: then none counts as protected.
 */
export async function protectedBy(read: () => Promise<string[]>): Promise<(branch: string) => boolean> {
  try {
    const patterns = (await read()).map(expression)
    return (branch) => patterns.some((pattern) => pattern.test(branch))
  } catch (error) {
    const hidden = error instanceof ForgeError && ['not_found', 'forbidden', 'token_rejected'].includes(error.failure)
    if (!hidden) throw error
    return () => false
  }
}

/** `*` stands for anything but a slash, `**` for anything, `?` for one character. */
function expression(glob: string): RegExp {
  const parts = glob.split(/(\*\*|\*|\?)/).map((part) => wild[part] ?? RegExp.escape(part))
  return new RegExp(`^${parts.join('')}$`)
}

const wild: Record<string, string> = { '**': '.*', '*': '[^/]*', '?': '[^/]' }

/** One word of POSIX shell that means exactly this text. NUL cannot be said in a shell and is refused. */
export function quote(text: string): string {
  if (text.includes('\0')) throw new Error('a NUL byte cannot be passed to a command')
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** `export` commands for these variables, each with its end; a name that is none is refused. */
export function exports(env: Record<string, string>, end: '\n' | '; ' = '\n'): string {
  return Object.entries(env)
    .map(([name, value]) => `export ${variable(name)}=${quote(value)}${end}`)
    .join('')
}

/** The name, when it can be a variable of a shell. */
export function variable(name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new Error(`not a variable name: ${JSON.stringify(name)}`)
  return name
}

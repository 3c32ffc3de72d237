import { ConfigError } from './config.ts'
import { readConfig } from './config.ts'
import { createOwnerKey } from './main/create-key.ts'
import { doctor } from './main/doctor.ts'
import { rotateSecretKey } from './main/rotate-key.ts'
import { serveUntilStopped } from './main/serve.ts'
import { showConfig } from './show-config.ts'

/*
 * The program: one verb, done to its end. What stops it from the outside (a wrong variable, a port in use, a database that
 * is away) is one line on standard error and an exit code, never a stack.
 */

const verbs: Record<string, (config: ReturnType<typeof readConfig>) => Promise<number>> = {
  start: serveUntilStopped,
  'keys create': createOwnerKey,
  'secret-key rotate': rotateSecretKey,
  doctor,
  config: async (config) => {
    process.stdout.write(`${showConfig(config)}\n`)
    return 0
  },
}

async function main(): Promise<number> {
  const verb = process.argv.slice(2).join(' ') || 'start'
  const run = verbs[verb]
  if (run === undefined) {
    process.stderr.write(`parley: there is no verb "${verb}". There are: ${Object.keys(verbs).join(', ')}.\n`)
    return 2
  }
  try {
    return await run(readConfig(process.env))
  } catch (error) {
    const lines = error instanceof Error ? error.message : String(error)
    for (const line of lines.split('\n')) process.stderr.write(`parley: ${line}\n`)
    return error instanceof ConfigError ? 2 : 1
  }
}

process.exitCode = await main()
// All that has to be done is done: what still holds this process does not hold up who waits for its end.
setTimeout(() => process.exit(), 2_000).unref()

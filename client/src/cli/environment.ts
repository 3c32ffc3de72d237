import { homedir } from 'node:os'
import { join } from 'node:path'

/** What the command line takes from its surroundings. The only place of the client that looks there. */
export interface Environment {
  baseUrl: string | undefined
  key: string | undefined
  /** Where `parley login` keeps address and key. */
  configFile: string
}

export function environment(): Environment {
  const { PARLEY_BASE_URL, PARLEY_API_KEY, XDG_CONFIG_HOME } = process.env
  return {
    baseUrl: PARLEY_BASE_URL || undefined,
    key: PARLEY_API_KEY || undefined,
    configFile: join(XDG_CONFIG_HOME || join(homedir(), '.config'), 'parley', 'client.json'),
  }
}

import { startPostgres } from '@parley/store/embedded'
import type { Config } from '../config.ts'
import { openPrivateFolder } from '../data-dir.ts'
import { notedRuntimeDir } from '../runtime-dir.ts'
import { openSecretKeys } from '../secret-key.ts'
import { databaseDir, type Ground, openGround } from './ground.ts'

/** The ground for a short errand: a server's own when one is running on it, else one of its own until the errand is done. */
export async function openShared(config: Config): Promise<Pick<Ground, 'connection' | 'keks' | 'close'>> {
  const quiet = () => {}
  try {
    return await openGround(config, quiet)
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('in use by another Parley'))) throw error
  }
  const dataDir = openPrivateFolder(config.dataDir)
  const keks = openSecretKeys(dataDir, config.secretKey)
  if (config.databaseUrl !== null) return { connection: config.databaseUrl, keks, close: async () => {} }
  const runtimeDir = databaseDir(notedRuntimeDir(dataDir))
  const postgres = await startPostgres({ dataDir, runtimeDir, log: quiet, supervise: false })
  return { connection: postgres.connection, keks, close: async () => postgres.leave() }
}

import { openDatabase } from '@parley/store/database'
import { migrate } from '@parley/store/migrate'
import { openSeal } from '@parley/store/seal'
import type { Config } from '../config.ts'
import { migrations } from '../migrations/migrations.ts'
import { openNextSecretKey, promoteNextSecretKey } from '../secret-key.ts'
import { openGround } from './ground.ts'

/**
 * `parley secret-key rotate`: a new key closes everything, and the old one opens nothing any more. The server must be stopped.
 * The new key is on the disk before it is used and takes the old one's place after, so a rotation that is cut can be begun
 * again, and a server that is started in between reads both.
 */
export async function rotateSecretKey(config: Config): Promise<number> {
  if (config.secretKey !== null)
    throw new Error(
      'The secret key is set by PARLEY_SECRET_KEY. Only a key that is kept in the data folder can be rotated.',
    )
  const ground = await openGround(config, () => {})
  const database = openDatabase({ connection: ground.connection, max: 2, applicationName: 'parley secret-key rotate' })
  try {
    await migrate(database, migrations)
    const next = openNextSecretKey(ground.dataDir)
    const seal = await openSeal({ database, keks: [next, ...ground.keks] })
    const count = await seal.rewrap(next)
    promoteNextSecretKey(ground.dataDir)
    process.stdout.write(`The secret key is a new one; ${count} data keys were closed with it. Back up secret.key.\n`)
    return 0
  } finally {
    await database.close()
    await ground.close()
  }
}

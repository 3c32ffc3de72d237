import { scopes } from '@parley/contract/endpoint'
import { systemClock } from '@parley/store/clock'
import { openDatabase } from '@parley/store/database'
import { migrate } from '@parley/store/migrate'
import { openSeal } from '@parley/store/seal'
import { openServerSecret } from '../access/server-secret.ts'
import { accessService } from '../access/service.ts'
import { accessStore } from '../access/store.ts'
import { byOperator } from '../audit/service.ts'
import { auditStore } from '../audit/store.ts'
import type { Config } from '../config.ts'
import { migrations } from '../migrations/migrations.ts'
import { userService } from '../users/service.ts'
import { userStore } from '../users/store.ts'
import { openTries } from '../users/tries.ts'
import { openShared } from './shared.ts'

/** `parley keys create`: an API key of the owner, printed once. Works beside a running server and without one. */
export async function createOwnerKey(config: Config): Promise<number> {
  const ground = await openShared(config)
  const database = openDatabase({ connection: ground.connection, max: 2, applicationName: 'parley keys create' })
  try {
    await migrate(database, migrations)
    const seal = await openSeal({ database, keks: ground.keks })
    const store = accessStore(database)
    const access = accessService({ store, pepper: await openServerSecret(store, seal, 'pepper'), clock: systemClock })
    const tries = openTries(database, systemClock)
    const users = userService({ store: userStore(database), access, tries, clock: systemClock })
    const owner = await users.ensureOwner()
    const audit = auditStore(database, await openServerSecret(store, seal, 'audit'))
    const key = await database.atOnce(async () => {
      const { row, key } = await access.createKey(owner.id, { name: 'made on the command line', scopes })
      await audit.insert(byOperator(systemClock, owner.id, 'key.create', row.id))
      return key
    })
    process.stdout.write(`${key}\n`)
    return 0
  } finally {
    await database.close()
    await ground.close()
  }
}

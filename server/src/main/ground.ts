import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Connection } from '@parley/store/database'
import { startPostgres } from '@parley/store/embedded'
import { lockDataDir } from '@parley/store/lock'
import type { Config } from '../config.ts'
import { openPrivateFolder } from '../data-dir.ts'
import { noteRuntimeDir, openRuntimeDir } from '../runtime-dir.ts'
import { openSecretKeys } from '../secret-key.ts'

/** What a server stands on: its data folder (locked), its key, and a database that answers. */
export interface Ground {
  dataDir: string
  runtimeDir: string
  /** The writing one first. */
  keks: readonly Buffer[]
  connection: Connection
  /** Of this data folder: the same after a restart. */
  replica: string
  close(): Promise<void>
}

export async function openGround(config: Config, tell: (line: string) => void): Promise<Ground> {
  const dataDir = openPrivateFolder(config.dataDir)
  const lock = await lockDataDir(dataDir)
  try {
    const runtimeDir = openRuntimeDir(dataDir, config.xdgRuntimeDir)
    noteRuntimeDir(dataDir, runtimeDir)
    const keks = openSecretKeys(dataDir, config.secretKey)
    const replica = replicaName(dataDir)
    if (config.databaseUrl !== null)
      return { dataDir, runtimeDir, keks, connection: config.databaseUrl, replica, close: async () => lock.release() }
    tell('Starting the database')
    const postgres = await startPostgres({ dataDir, runtimeDir: databaseDir(runtimeDir), log: tell })
    const close = async () => {
      await postgres.stop()
      lock.release()
    }
    return { dataDir, runtimeDir, keks, connection: postgres.connection, replica, close }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** The database's sockets: a folder that belongs to whom the database runs as. */
export const databaseDir = (runtimeDir: string): string => join(runtimeDir, 'db')

function replicaName(dataDir: string): string {
  const path = join(dataDir, 'replica.id')
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    const name = randomUUID()
    writeFileSync(path, `${name}\n`, { mode: 0o600 })
    return name
  }
}

import { Readable } from 'node:stream'
import type { Who } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import type { SecretsService } from '../secrets/service.ts'
import type { Sandboxes } from './service.ts'

/** What a sandbox may ask with its own session key, while it runs: the names of its owner's secrets, and one value at a time. */

export type SecretDoors = ReturnType<typeof secretDoors>

export function secretDoors({ sandboxes, secrets }: { sandboxes: Sandboxes; secrets: SecretsService }) {
  async function open(who: Who, id: string): Promise<void> {
    if (who.kind !== 'sandbox')
      throw new Problem('insufficient_scope', 'Only the session key of this sandbox opens this door.')
    if (who.id !== id) throw new Problem('not_found')
    await sandboxes.own(who.owner, id, 'use')
  }

  return {
    async list(who: Who, id: string) {
      await open(who, id)
      return { secrets: (await secrets.list(who.owner)).custom_secrets }
    },

    async read(who: Who, id: string, name: string) {
      await open(who, id)
      const secret = (await secrets.values(who.owner)).find((one) => one.name === name)
      if (secret === undefined) throw new Problem('not_found', `There is no secret ${name}.`)
      const bytes = Buffer.from(secret.shown)
      return { type: 'text/plain; charset=utf-8', length: bytes.length, body: Readable.from([bytes]) }
    },
  }
}

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text, withoutWalls, type Sentence } from './conformance-sentence.ts'
import type { Hands } from './driver.ts'
import { probes } from './probes.ts'

/** The walls, as every driver that isolates promises them. */
export function wallConformance(sentence: Sentence, hands: () => Promise<Hands>): void {
  for (const { name, script, exceptInPods } of probes) {
    sentence(name, async ({ isolated, inPods }) => {
      if (!isolated) return withoutWalls
      if (inPods && exceptInPods) return 'it does not hold in pods'
      const folder = await mkdtemp(join(tmpdir(), 'probe-'))
      const server = createServer((socket) => socket.destroy())
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      try {
        await writeFile(join(folder, 'secret'), 'host', { mode: 0o600 })
        const { port } = server.address() as AddressInfo
        assert.equal(await text(await hands(), script, [String(port), join(folder, 'secret')]), '')
      } finally {
        server.close()
        await rm(folder, { recursive: true })
      }
    })
  }

  sentence('a host that the policy allows is reached through the proxy, another is refused by name', async () => {
    const ask = `{ printf 'GET http://%s/ HTTP/1.0\\r\\n\\r\\n' "$1"; sleep 0.5; } | socat -T5 - "TCP4:127.0.0.1:\${HTTP_PROXY##*:}"`
    assert.match(await text(await hands(), ask, ['allowed.test']), /^HTTP\/1\.1 200 [^]*hello from outside/)
    assert.match(
      await text(await hands(), ask, ['refused.test']),
      /^HTTP\/1\.1 403 [^]*X-Parley-Egress: refused[^]*refused\.test/,
    )
  })

  sentence('the system configuration of git is ours', async () => {
    assert.equal(
      await text(await hands(), 'git config --system user.name; git config --system protocol.allow'),
      'Ada "A"\nnever\n',
    )
  })
}

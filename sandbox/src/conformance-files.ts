import assert from 'node:assert/strict'
import type { Sentence } from './conformance-sentence.ts'
import type { Hands } from './driver.ts'

/** Files, as every driver promises them. */
export function fileConformance(sentence: Sentence, hands: () => Promise<Hands>): void {
  const files = async () => (await hands()).files

  sentence('bytes come back as written, under any name', async () => {
    const fs = await files()
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, at) => (at * 7) % 256))
    for (const name of ["a b'c", '-n', 'ümläut ✓', '$(id)`id`', 'line\nbreak', '*', '"quoted"']) {
      for (const data of [bytes, bytes.subarray(0, 300), Buffer.alloc(0)]) {
        await fs.write(`/workspace/odd/${name}/f`, data)
        assert.ok((await fs.read(`/workspace/odd/${name}/f`)).equals(data), name)
      }
    }
    assert.equal((await fs.list('/workspace/odd')).length, 7)
    assert.deepEqual(await fs.read('/workspace/odd/-n/f', { from: 0, length: 10 }), Buffer.alloc(0))
    await fs.remove('/workspace/odd')
    await fs.remove('/workspace/odd')
    assert.equal(await fs.stat('/workspace/odd'), null)
  })

  sentence('a part of a file is read, and bytes are added at its end', async () => {
    const fs = await files()
    await fs.append('/workspace/new/log', Buffer.from('hello '))
    await fs.append('/workspace/new/log', Buffer.from('world'))
    assert.equal(String(await fs.read('/workspace/new/log', { from: 4, length: 4 })), 'o wo')
    assert.equal(String(await fs.read('/workspace/new/log', { from: 100, length: 4 })), '')
  })

  sentence('a new version keeps the mode of the old and leaves no temporary file', async () => {
    const fs = await files()
    await fs.write('/workspace/tool/run', Buffer.from('1'), { mode: 0o750 })
    await fs.write('/workspace/tool/run', Buffer.from('22'))
    const [only, ...others] = await fs.list('/workspace/tool')
    assert.deepEqual([only?.name, only?.type, only?.size, only?.mode, others], ['run', 'file', 2, 0o750, []])
  })

  sentence('large files go both ways', async () => {
    const fs = await files()
    const data = Buffer.alloc(20 * 2 ** 20, 'parley')
    await fs.write('/workspace/large', data)
    assert.ok((await fs.read('/workspace/large')).equals(data))
    await fs.remove('/workspace/large')
  })

  sentence('a failure says which one it was', async () => {
    const fs = await files()
    await fs.write('/workspace/plain', Buffer.from('x'))
    await assert.rejects(fs.read('/workspace/none'), { code: 'ENOENT' })
    await assert.rejects(fs.read('/workspace'), { code: 'EISDIR' })
    await assert.rejects(fs.write('/workspace', Buffer.from('x')), { code: 'EISDIR' })
    await assert.rejects(fs.list('/workspace/plain'), { code: 'ENOTDIR' })
    await assert.rejects(fs.read('/workspace/plain/x'), { code: 'ENOTDIR' })
    await assert.rejects(fs.write('/usr/x', Buffer.from('x')), { code: 'EACCES' })
    await assert.rejects(fs.read('relative'), { code: 'EINVAL' })
    await assert.rejects(fs.read('/workspace/a\0b'), { code: 'EINVAL' })
  })

  sentence('a link out of the sandbox leads to nothing of the host', async () => {
    const mine = await hands()
    await mine.run({
      script:
        'ln -s /etc/shadow /workspace/s; ln -s ../../../../../../root /workspace/r; ln -s /proc/1/root/etc/shadow /workspace/p',
    })
    for (const path of ['/workspace/s', '/workspace/r/.bashrc', '/workspace/p']) {
      await assert.rejects(mine.files.read(path), { name: 'FileError' })
    }
    assert.equal((await mine.files.stat('/workspace/s'))?.type, 'symlink')
    await assert.rejects(mine.files.write('/workspace/r/x', Buffer.from('x')), { name: 'FileError' })
  })
}

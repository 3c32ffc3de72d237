import assert from 'node:assert/strict'
import { type Sentence, withoutWalls } from './conformance-sentence.ts'
import type { Hands } from './driver.ts'

/** Files, as every driver promises them. */
export function fileConformance(sentence: Sentence, hands: () => Promise<Hands>): void {
  const place = async () => {
    const { files, layout } = await hands()
    return { fs: files, at: layout.workspace }
  }

  sentence('bytes come back as written, under any name', async () => {
    const { fs, at } = await place()
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, at) => (at * 7) % 256))
    for (const name of ["a b'c", '-n', 'ümläut ✓', '$(id)`id`', 'line\nbreak', '*', '"quoted"']) {
      for (const data of [bytes, bytes.subarray(0, 300), Buffer.alloc(0)]) {
        await fs.write(`${at}/odd/${name}/f`, data)
        assert.ok((await fs.read(`${at}/odd/${name}/f`)).equals(data), name)
      }
    }
    assert.equal((await fs.list(`${at}/odd`)).length, 7)
    assert.deepEqual(await fs.read(`${at}/odd/-n/f`, { from: 0, length: 10 }), Buffer.alloc(0))
    await fs.remove(`${at}/odd`)
    await fs.remove(`${at}/odd`)
    assert.equal(await fs.stat(`${at}/odd`), null)
  })

  sentence('a part of a file is read, and bytes are added at its end', async () => {
    const { fs, at } = await place()
    await fs.append(`${at}/new/log`, Buffer.from('hello '))
    await fs.append(`${at}/new/log`, Buffer.from('world'))
    assert.equal(String(await fs.read(`${at}/new/log`, { from: 4, length: 4 })), 'o wo')
    assert.equal(String(await fs.read(`${at}/new/log`, { from: 100, length: 4 })), '')
  })

  sentence('a new version keeps the mode of the old and leaves no temporary file', async () => {
    const { fs, at } = await place()
    await fs.write(`${at}/tool/run`, Buffer.from('1'), { mode: 0o750 })
    await fs.write(`${at}/tool/run`, Buffer.from('22'))
    const [only, ...others] = await fs.list(`${at}/tool`)
    assert.deepEqual([only?.name, only?.type, only?.size, only?.mode, others], ['run', 'file', 2, 0o750, []])
  })

  sentence('large files go both ways', async () => {
    const { fs, at } = await place()
    const data = Buffer.alloc(20 * 2 ** 20, 'parley')
    await fs.write(`${at}/large`, data)
    assert.ok((await fs.read(`${at}/large`)).equals(data))
    await fs.remove(`${at}/large`)
  })

  sentence('a failure says which one it was', async ({ isolated }) => {
    const { fs, at } = await place()
    await fs.write(`${at}/plain`, Buffer.from('x'))
    await assert.rejects(fs.read(`${at}/none`), { code: 'ENOENT' })
    await assert.rejects(fs.read(at), { code: 'EISDIR' })
    await assert.rejects(fs.write(at, Buffer.from('x')), { code: 'EISDIR' })
    await assert.rejects(fs.list(`${at}/plain`), { code: 'ENOTDIR' })
    await assert.rejects(fs.read(`${at}/plain/x`), { code: 'ENOTDIR' })
    if (isolated) await assert.rejects(fs.write('/usr/x', Buffer.from('x')), { code: 'EACCES' })
    await assert.rejects(fs.read('relative'), { code: 'EINVAL' })
    await assert.rejects(fs.read(`${at}/a\0b`), { code: 'EINVAL' })
  })

  sentence('a link out of the sandbox leads to nothing of the host', async ({ isolated }) => {
    if (!isolated) return withoutWalls
    const mine = await hands()
    const at = mine.layout.workspace
    const script = 'ln -s /etc/shadow s; ln -s ../../../../../../root r; ln -s /proc/1/root/etc/shadow p'
    await mine.run({ script, cwd: at })
    for (const path of [`${at}/s`, `${at}/r/.bashrc`, `${at}/p`]) {
      await assert.rejects(mine.files.read(path), { name: 'FileError' })
    }
    assert.equal((await mine.files.stat(`${at}/s`))?.type, 'symlink')
    await assert.rejects(mine.files.write(`${at}/r/x`, Buffer.from('x')), { name: 'FileError' })
  })
}

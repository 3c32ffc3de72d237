import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { downloadWorkspace } from '@parley/contract/workspace'
import { begin, eventsOf, observations, ofKind, openHouse, rest, runs, say, says, until } from '../tools/house.ts'

/*
 * What an agent did is there when its sandbox is not: read, compared, downloaded, and gone on with in a new one.
 */

const big = 'head -c 40000000 /dev/zero > big.bin'
const house = await openHouse({
  scripts: {
    work: {
      turns: [
        runs(
          [
            'git config user.email agent@example.com; git config user.name Agent',
            'echo committed > committed.txt; git add committed.txt; git commit -qm "A commit"',
            'echo staged > staged.txt; git add staged.txt',
            'echo changed >> README.md; echo new > "odd \' name.txt"; rm old.txt; mkdir bin; printf "#!/bin/sh\\n" > bin/run; chmod +x bin/run',
            'ln -s README.md link; echo .env > .gitignore; echo SECRET=1 > .env; echo build/ >> .gitignore; mkdir build; echo x > build/out',
            'mkdir part; cd part; git init -q .; echo nested > inner.txt; cd ..; git mv moved.txt elsewhere.txt',
          ].join('; '),
        ),
        { text: 'Done.' },
      ],
    },
    hostile: {
      turns: [
        runs(
          [
            'for name in pre-commit post-checkout post-index-change; do printf "#!/bin/sh\\ntouch /tmp/hooked\\n" > .git/hooks/$name; chmod +x .git/hooks/$name; done',
            'git config core.fsmonitor "touch /tmp/monitored; false"; git config core.hooksPath .git/hooks',
            'git config filter.evil.clean "touch /tmp/cleaned; cat"; git config filter.evil.smudge "touch /tmp/smudged; cat"',
            'echo "*.txt filter=evil text" > .gitattributes; printf "a\\r\\nb\\r\\n" > crlf.txt; ln -s /etc/passwd outside; ln -s / root',
            'git update-index --assume-unchanged README.md; echo hidden >> README.md',
            // What git did here for the agent itself.
            'cd /tmp && rm -f hooked monitored cleaned smudged',
          ].join('; '),
        ),
        { text: 'Done.' },
      ],
    },
    look: { turns: [runs('ls /tmp'), { text: 'Seen.' }] },
    state: {
      turns: [
        runs(
          'git log --format=%s | head -2; git status --porcelain; cat .env part/inner.txt; git rev-parse HEAD; git fsck --connectivity-only --no-dangling 2>&1 | head -3; stat -c %A bin/run; readlink link',
        ),
        { text: 'Seen.' },
      ],
    },
    large: { turns: [runs(`${big}; echo small > small.txt`), { text: 'Done.' }] },
  },
  repositories: {
    'acme/widgets': { files: { 'README.md': 'hello\n', 'old.txt': 'old\n', 'moved.txt': 'the same\n' } },
  },
})
after(() => house[Symbol.asyncDispose]())
const { ada } = house

async function worked(script: string, more: object = { selected_repository: 'acme/widgets' }): Promise<string> {
  const id = await begin(ada, says(`[[script:${script}]] Work.`, more))
  assert.equal((await rest(ada, id)).status, 'finished')
  return id
}

async function withoutSandbox(id: string): Promise<void> {
  const { sandbox_id } = await ada.conversations.get({ params: { id } })
  await ada.sandboxes.delete({ params: { id: sandbox_id ?? '' } })
  assert.equal((await ada.conversations.get({ params: { id } })).sandbox_status, 'MISSING')
}

const byPath = (changes: readonly { path: string; status: string }[]) =>
  Object.fromEntries(changes.map(({ path, status }) => [path, status]).toSorted())

test('a conversation without its sandbox is read, compared and downloaded as it was when it was removed', async () => {
  const id = await worked('work')
  const ask = { params: { id } }
  const before = await ada.conversations.gitChanges({ ...ask })
  const listed = await ada.conversations.files({ ...ask })
  await withoutSandbox(id)
  assert.deepEqual(byPath(await ada.conversations.gitChanges({ ...ask })), {
    ...byPath(before.filter(({ path }) => path !== 'part/')),
    'part/inner.txt': 'ADDED',
  })
  const diff = await ada.conversations.gitDiff({ ...ask, query: { path: 'README.md' } })
  assert.deepEqual(diff, { original: 'hello\n', modified: 'hello\nchanged\n' })
  const saved = await ada.conversations.files({ ...ask })
  const shown = (one: typeof saved) =>
    one.files.filter(({ path }) => path !== '.git' && path !== 'build').map(({ path, kind }) => `${kind} ${path}`)
  assert.deepEqual(shown(saved), shown(listed))
  assert.equal(await ada.conversations.readFile({ ...ask, query: { file_path: '.env' } }), 'SECRET=1\n')
  await assert.rejects(ada.conversations.readFile({ ...ask, query: { file_path: '/etc/passwd' } }), {
    code: 'not_found',
  })
  await assert.rejects(ada.conversations.readFile({ ...ask, query: { file_path: 'link' } }), { code: 'not_found' })
  await assert.rejects(ada.conversations.gitDiff({ ...ask, query: { path: 'absent' } }), { code: 'not_found' })
  const dir = mkdtempSync(join(tmpdir(), 'pz-'))
  try {
    const { body } = await ada.call(downloadWorkspace, ask)
    writeFileSync(join(dir, 'w.zip'), Buffer.from(await new Response(body).arrayBuffer()))
    const script =
      'import sys,zipfile;z=zipfile.ZipFile(sys.argv[1]);print(z.testzip());[print(i.filename,oct(i.external_attr>>16),z.read(i)) for i in z.infolist()]'
    const said = execFileSync('python3', ['-c', script, join(dir, 'w.zip')]).toString()
    assert.match(said, /^None\n/)
    for (const line of [
      "widgets/bin/run 0o100755 b'#!/bin/sh\\n'",
      "widgets/link 0o120777 b'README.md'",
      "widgets/.env 0o100644 b'SECRET=1\\n'",
    ])
      assert.ok(said.includes(line), said)
  } finally {
    rmSync(dir, { recursive: true })
  }
  await assert.rejects(say(ada, id, 'Go on.'), { code: 'gone' })
})

test('a fork goes on in a new sandbox from what was committed, staged, changed and new', async () => {
  const id = await worked('work')
  const live = await say(ada, id, '[[script:state]] Look.')
  const was = observations((await rest(ada, id, live)).events)[0] ?? ''
  await withoutSandbox(id)
  const fork = await ada.conversations.fork({ params: { id }, body: {} })
  assert.equal(fork.sandbox_status, 'RUNNING')
  const told = ofKind(await eventsOf(ada, fork.id), 'NoticeEvent').map((event) => event.code)
  assert.deepEqual(told, ['workspace_restored'])
  const seq = await say(ada, fork.id, '[[script:state]] Look.')
  const is = observations((await rest(ada, fork.id, seq)).events)[0] ?? ''
  // What was a repository inside the repository is a folder of it now.
  assert.deepEqual(
    is.split('\n').filter((line) => !/part/.test(line)),
    was.split('\n').filter((line) => !/part/.test(line)),
  )
  assert.match(is, /^A commit/)
  assert.match(is, /^A {2}staged.txt$/m)
  assert.match(is, /^ M README.md$/m)
  await ada.conversations.delete({ params: { id: fork.id } })
})

test('a paused workspace can be read, and what a hostile repository sets up is not run to save it', async () => {
  const id = await worked('hostile')
  const { sandbox_id } = await ada.conversations.get({ params: { id } })
  const looked = await say(ada, id, '[[script:look]] Look.')
  const seen = observations((await rest(ada, id, looked)).events)[0] ?? ''
  assert.doesNotMatch(seen, /monitored|smudged|hooked|cleaned/)
  await ada.sandboxes.pause({ params: { id: sandbox_id ?? '' } })
  const read = (file_path: string) => ada.conversations.readFile({ params: { id }, query: { file_path } })
  assert.equal(await read('crlf.txt'), 'a\r\nb\r\n')
  assert.equal(await read('README.md'), 'hello\nhidden\n')
  await assert.rejects(read('outside'), { code: 'not_found' })
  await assert.rejects(read('root/etc/passwd'), { code: 'not_found' })
})

test('what is too large for a checkpoint is told, and the rest is saved', async () => {
  const id = await worked('large', {})
  const notice = await until('the log tells it', 20_000, async () =>
    ofKind(await eventsOf(ada, id), 'NoticeEvent').find((event) => event.code === 'checkpoint_incomplete'),
  )
  assert.match(String(notice.detail), /Too large: big\.bin/)
  await withoutSandbox(id)
  const { files } = await ada.conversations.files({ params: { id } })
  assert.deepEqual(
    files.map(({ path }) => path),
    ['small.txt'],
  )
  assert.deepEqual(await ada.conversations.gitChanges({ params: { id } }), [
    { status: 'ADDED', path: 'small.txt', additions: null, deletions: null },
  ])
})

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { api } from '@parley/contract/api'
import { branchesOf } from '../tools/bare-repository.ts'
import { begin, eventsOf, forgeToken, llmKey, observations, openHouse, rest, runs, says } from '../tools/house.ts'

/* From a repository behind a token to a pushed branch, and the token nowhere but on the way out. */

/** In a shell's words the end of a secret, so that a search for it does not find itself. */
const inTwo = (secret: string) => `'${secret.slice(-12, -6)}''${secret.slice(-6)}'`

const look = [
  'env; cat ~/.gitconfig ~/.git-credentials ~/.netrc .git/config /etc/gitconfig 2>&1; git remote -v; git config --list',
  'for p in /proc/[0-9]*; do tr "\\0" "\\n" < $p/environ; tr "\\0" " " < $p/cmdline; done 2>/dev/null; true',
  `for s in ${inTwo(forgeToken)} ${inTwo(llmKey)}; do grep -rslF "$s" ~ /workspace /tmp /run /etc /var; done; echo searched`,
]

const house = await openHouse({
  repositories: {
    'acme/widgets': {
      members: { ada: 'write' },
      files: { 'README.md': '# Widgets\n', 'AGENTS.md': 'Widgets are round.\n' },
    },
    'acme/parts': { members: { ada: 'write' } },
    'bob/secret': { members: {} },
  },
  scripts: {
    change: {
      turns: [
        runs(
          'sed -i "s/Widgets/Round widgets/" README.md && echo new > new.txt && git add . && git commit -qm "Round them"',
        ),
        runs('git push -q origin HEAD:refs/heads/rounder && echo pushed'),
        { text: 'Pushed as rounder.' },
      ],
    },
    look: { turns: [...look.map((command) => runs(command)), { text: 'Nothing found.' }] },
    stray: {
      turns: [
        runs('git push $(git remote get-url origin | sed s/widgets/parts/) HEAD:refs/heads/stray; echo "code $?"'),
        { text: 'Refused.' },
      ],
    },
  },
})
after(() => house[Symbol.asyncDispose]())
const { ada, forge, llm } = house

test('the agent clones behind a token, commits and pushes a branch, and the changes are shown', async () => {
  const id = await begin(ada, says('[[script:change]] Make them round.', { selected_repository: 'acme/widgets' }))
  const { status, events } = await rest(ada, id)
  assert.equal(status, 'finished')
  assert.match(observations(events).join('\n'), /pushed/)
  const branches = await branchesOf(forge.repositories['acme/widgets'] ?? '')
  assert.deepEqual(
    branches.map((branch) => branch.name),
    ['main', 'rounder'],
  )

  const changes = await ada.conversations.gitChanges({ params: { id } })
  assert.deepEqual(
    changes.toSorted((a, b) => a.path.localeCompare(b.path)),
    [
      { status: 'ADDED', path: 'new.txt', additions: 1, deletions: 0 },
      { status: 'UPDATED', path: 'README.md', additions: 1, deletions: 1 },
    ],
  )
  const diff = await ada.conversations.gitDiff({ params: { id }, query: { path: 'README.md' } })
  assert.deepEqual(diff, { original: '# Widgets\n', modified: '# Round widgets\n' })
  const shown = await ada.conversations.get({ params: { id } })
  assert.deepEqual([shown.selected_repository, shown.git_provider], ['acme/widgets', 'open_forge'])
})

test('what the repository says to agents is in the system prompt', async () => {
  const id = await begin(ada, says('[[script:stray]] Try it.', { selected_repository: 'acme/widgets' }))
  const { events } = await rest(ada, id)
  const prompt = events.find((event) => event.kind === 'SystemPromptEvent')
  assert.match(JSON.stringify(prompt), /Widgets are round/)
  const { requests } = await llm.log()
  assert.match(await llm.body(requests.at(-1)?.n ?? 0), /Widgets are round/)
})

test('a push to a repository that the conversation is not about is refused', async () => {
  const id = await begin(ada, says('[[script:stray]] Push elsewhere.', { selected_repository: 'acme/widgets' }))
  const { events } = await rest(ada, id)
  assert.match(observations(events).join('\n'), /code (1|128)/)
  const branches = await branchesOf(forge.repositories['acme/parts'] ?? '')
  assert.deepEqual(
    branches.map((branch) => branch.name),
    ['main'],
  )
})

test('neither the forge token nor the model key is anywhere in the sandbox, the events or the answers', async () => {
  const id = await begin(ada, says('[[script:look]] Look around.', { selected_repository: 'acme/widgets' }))
  const { status, events } = await rest(ada, id)
  assert.equal(status, 'finished')
  const said = observations(events)
  assert.match(said[0] ?? '', /remote\.origin\.url=http/)
  assert.match(said[1] ?? '', /bash/)
  assert.match(said[2]?.trim() ?? '', /^searched/)
  assert.doesNotMatch(said.join('\n'), /<secret:/)
  const caller = await house.server.as('ada')
  await caller(api.conversations.get, { params: { id } })
  await caller(api.settings.get)
  await caller(api.git.accounts)
  await caller(api.startTasks.search)
  await caller(api.secrets.list)
  const everything = JSON.stringify(await eventsOf(ada, id)) + house.server.said()
  for (const secret of [forgeToken, llmKey, Buffer.from(`:${forgeToken}`).toString('base64').slice(4, 30)])
    assert.ok(!everything.includes(secret), `${secret.slice(0, 6)}… was shown`)
})

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import fc from 'fast-check'
import { branchName, branchProblem, repositoryName } from './git-names.ts'
import { gitProvider, gitProviderAliases, GitProviderInput, gitProviders } from './git-provider.ts'
import { maskedSource, PluginInput } from './plugins.ts'

const goodBranches = [
  'main',
  'feature/parser',
  'release-1.2',
  'user@home',
  'ünïcödé',
  'a'.repeat(244),
  'v1.0_x',
  '@a',
  'a#1',
]
const badBranches = [
  '',
  '--orphan',
  '-b',
  '$(id)',
  '`id`',
  'a;id',
  'a|b',
  'a&b',
  'a..b',
  'a b',
  'a\u3000b',
  'a\u00a0b',
  'a\nb',
  'a\u0000b',
  'a\u202eb',
  'a\u200bb',
  'a'.repeat(300),
  'ä'.repeat(123),
  '.a',
  'a/.b',
  'a/',
  '/a',
  'a//b',
  'a.',
  'a.lock',
  'a.lock/b',
  'a~1',
  'a^',
  'a:b',
  'a?',
  'a*',
  'a[b',
  'a\\b',
  'a@{1}',
  '@',
  'HEAD',
]

test('a branch name that Git could take for an option, a revision or a path is refused', () => {
  for (const name of goodBranches) assert.equal(branchProblem(name), undefined, name)
  for (const name of badBranches) assert.ok(!branchName(name), JSON.stringify(name))
})

test('Git accepts every branch name that is accepted here', () => {
  const names = [
    ...goodBranches,
    ...fc.sample(
      fc.string({ unit: fc.constantFrom('a', 'é', '.', '/', '-', '@', '_', '#', '%', 'k'), minLength: 1 }),
      40,
    ),
  ].filter(branchName)
  assert.ok(names.length > goodBranches.length)
  for (const name of names) {
    const git = spawnSync('git', ['check-ref-format', '--branch', name], { stdio: 'ignore', timeout: 10_000 })
    assert.equal(git.status, 0, JSON.stringify(name))
  }
})

test('no accepted branch name has white space, a control character, or starts with a dash', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (name) => {
      if (branchName(name)) assert.doesNotMatch(name, /^-|\s|[\p{Cc}\p{Cf}\p{Cs}]|[$`;&|<>]/u)
    }),
    { numRuns: 500 },
  )
})

test('a repository is owner/name and nothing else', () => {
  for (const name of ['ada/engine', 'a/b', 'Ada-1/x.y_z', 'a/.github']) assert.ok(repositoryName(name), name)
  const bad = ['', 'a', 'a/b/c', '../b', 'a/..', './b', '-x/y', 'a/-b', 'a/b;id', 'a/b\n', 'a /b', '/b', 'a/', 'a/ü']
  for (const name of [...bad, `a/${'b'.repeat(300)}`, 'https://host/a/b', 'a/b$(id)']) {
    assert.ok(!repositoryName(name), JSON.stringify(name))
  }
})

test('other services\u2019 words for Git hosts are taken, and the words of the specification are answered', () => {
  assert.equal(GitProviderInput.parse('github'), 'forge_a')
  assert.equal(GitProviderInput.parse('gitlab'), 'forge_b')
  assert.equal(GitProviderInput.parse('bitbucket'), 'cloud_repo_host')
  assert.equal(GitProviderInput.parse('bitbucket_data_center'), 'datacenter_repo_host')
  assert.equal(GitProviderInput.parse('forgejo'), 'open_forge')
  assert.equal(GitProviderInput.parse('gitea'), 'open_forge')
  assert.equal(GitProviderInput.parse('azure_devops'), 'devops_suite')
  for (const provider of gitProviders) assert.equal(GitProviderInput.parse(provider), provider)
  for (const word of ['GitHub', 'FORGE_A', '', 'toString', '__proto__', 'constructor']) {
    assert.equal(gitProvider(word), undefined, word)
    assert.ok(!GitProviderInput.safeParse(word).success, word)
  }
  for (const alias of Object.keys(gitProviderAliases)) assert.ok(!gitProviders.some((provider) => provider === alias))
})

test('a plugin comes from a repository, a Git address or a folder of the workspace, and stays inside it', () => {
  for (const source of [
    'forge_a:ada/skills',
    'https://git.example/ada/skills.git',
    'plugins/review',
    './plugins/review',
  ]) {
    assert.ok(PluginInput.safeParse({ source }).success, source)
  }
  for (const source of ['', '-u', '../up', '/etc', 'ext::sh -c id', 'file:///etc', 'forge_a:a/b/c', 'a b', 'fd::7']) {
    assert.ok(!PluginInput.safeParse({ source }).success, source)
  }
  for (const repo_path of ['/abs', 'a/../b', '..', '-x', 'a\nb']) {
    assert.ok(!PluginInput.safeParse({ source: 'forge_a:ada/skills', repo_path }).success, repo_path)
  }
  assert.equal(maskedSource('https://ada:token@git.example/a/b'), 'https://****@git.example/a/b')
  assert.equal(maskedSource('https://git.example/a@b'), 'https://git.example/a@b')
})

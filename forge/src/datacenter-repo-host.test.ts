import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openConformanceWorld } from '../../tests/tools/forge-conformance-world.ts'
import { cloneUrl, repositoryInAddress, repositoryOfGit } from './address.ts'
import { forgeConformance } from './conformance.ts'
import { datacenterPlaces, datacenterRepoHost } from './datacenter-repo-host.ts'

const knows = { stars: false, pushes: false, issues: false, clonePath: '/scm/acme/widgets.git' }

forgeConformance('datacenter_repo_host', () =>
  openConformanceWorld('bitbucketServer', datacenterRepoHost, ['acme', 'bob'], knows),
)

test('a person’s own place is written with a tilde, in names and in addresses', () => {
  const host = 'https://git.example/bitbucket'
  assert.equal(cloneUrl(host, datacenterPlaces, '~ada/notes'), `${host}/scm/~ada/notes.git`)
  for (const address of [`${host}/users/ada/repos/notes/browse`, `${host}/scm/~ada/notes.git`]) {
    assert.equal(repositoryInAddress(host, address, datacenterPlaces), '~ada/notes', address)
  }
  assert.equal(repositoryOfGit(datacenterPlaces, '/scm/~ada/notes.git'), '~ada/notes')
  assert.equal(repositoryOfGit(datacenterPlaces, '/users/ada/repos/notes'), undefined)
})

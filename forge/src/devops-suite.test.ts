import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openConformanceWorld } from '../../tests/tools/forge-conformance-world.ts'
import { openForgeServer } from '../../tests/tools/forge-server.ts'
import { forgeConformance } from './conformance.ts'
import { devopsSuite } from './devops-suite.ts'

const knows = { stars: false, pushes: false, issues: false, clonePath: '/acme/_git/widgets' }

forgeConformance('devops_suite', () => openConformanceWorld('azure', devopsSuite, ['umbrella'], knows))

test('what does not fit into owner/name goes by its id, and a work item by the repository of its project', async () => {
  await using server = await openForgeServer({
    dialect: 'azure',
    users: { ada: 'token-of-ada' },
    repositories: {},
    unfilled: {
      'tools/tools': { issues: [{ number: 9, title: 'Sharpen', author: 'bob', assignee: 'ada' }] },
      'tools/other': {},
      'My Project/parts': {},
    },
  })
  const forge = devopsSuite({
    host: server.host,
    token: 'token-of-ada',
    fetch,
    signal: AbortSignal.timeout(10_000),
  })
  const { items } = await forge.repositories({
    query: 'parts',
    installationId: null,
    sort: null,
    cursor: null,
    limit: 9,
  })
  assert.match(items[0]?.full_name ?? '', /^[0-9a-f-]{36}\/parts$/)
  const [task] = await forge.suggestedTasks()
  assert.deepEqual([task?.repo, task?.task_type, task?.issue_number], ['tools/tools', 'OPEN_ISSUE', 9])
})

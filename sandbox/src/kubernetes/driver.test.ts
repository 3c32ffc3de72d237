import { test } from 'node:test'
import { testingCluster } from '../../../tests/tools/kubernetes-testing.ts'
import { conformance } from '../conformance.ts'

const testing = testingCluster()
if (typeof testing === 'string')
  test('kubernetes: the conformance of a real cluster', { skip: testing }, () => undefined)
else {
  const { openKubernetes } = await import('./testing.fixture.ts')
  conformance('kubernetes', () => openKubernetes(testing))
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { specOf } from '../conformance-sentence.ts'
import { closedPolicy, labels, podOf, wayPolicy } from './pod.ts'

const shape = { installation: 'mine', wayImage: 'socat:1', storageClass: null, runtimeClass: 'gvisor' }

test('a pod fits the pod security standard "restricted", and has nothing of the cluster or of its node', () => {
  const { spec } = podOf(specOf(), 'debian:bookworm', shape)
  assert.ok(spec)
  const { securityContext, containers, volumes = [] } = spec
  assert.deepEqual(
    [spec.automountServiceAccountToken, spec.enableServiceLinks, spec.hostNetwork, spec.hostPID, spec.hostIPC],
    [false, false, undefined, undefined, undefined],
  )
  assert.equal(securityContext?.seccompProfile?.type, 'RuntimeDefault')
  assert.equal(securityContext?.runAsNonRoot, true)
  assert.ok((securityContext?.runAsUser ?? 0) > 1_000_000_000)
  assert.equal(spec.runtimeClassName, 'gvisor')
  assert.equal(containers.length, 2)
  for (const { securityContext: own, resources, volumeMounts = [] } of containers) {
    assert.deepEqual(own, {
      allowPrivilegeEscalation: false,
      privileged: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
    })
    assert.deepEqual(Object.keys(resources?.limits ?? {}).sort(), ['cpu', 'memory'])
    assert.ok(volumeMounts.every(({ mountPropagation }) => mountPropagation === undefined))
  }
  const kinds = new Set(volumes.flatMap(({ name: _, ...kind }) => Object.keys(kind)))
  assert.deepEqual([...kinds].sort(), ['downwardAPI', 'emptyDir', 'persistentVolumeClaim'])
  assert.notEqual(podOf(specOf(), 'a', shape).spec?.securityContext?.runAsUser, securityContext?.runAsUser)
})

test('the tenant’s container can write to its own folders only, and not to what it trusts', () => {
  const [tenant] = podOf(specOf(), 'debian:bookworm', shape).spec?.containers ?? []
  const writable = tenant?.volumeMounts?.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath)
  assert.deepEqual(writable?.sort(), ['/home', '/tmp', '/var/tmp', '/workspace'])
})

test('the policies let a sandbox reach the way out and nothing else, and nobody reach it', () => {
  assert.deepEqual(closedPolicy.spec, {
    podSelector: { matchExpressions: [{ key: labels.sandbox, operator: 'Exists' }] },
    policyTypes: ['Ingress', 'Egress'],
  })
  const { spec } = wayPolicy('mine', '10.1.2.3', 3129)
  assert.deepEqual(spec?.podSelector, { matchLabels: { [labels.installation]: 'mine' } })
  assert.deepEqual(spec?.policyTypes, ['Egress'])
  const [only, ...others] = spec?.egress ?? []
  assert.deepEqual(
    [others, only?.ports, only?.to?.[0]],
    [[], [{ protocol: 'TCP', port: 3129 }], { ipBlock: { cidr: '10.1.2.3/32' } }],
  )
  assert.equal(wayPolicy('mine', 'fd00::7', 1).spec?.egress?.[0]?.to?.[0]?.ipBlock?.cidr, 'fd00::7/128')
})

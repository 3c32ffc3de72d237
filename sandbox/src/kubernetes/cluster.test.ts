import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { testingCluster } from '../../../tests/tools/kubernetes-testing.ts'
import { limit, specOf, text } from '../conformance-sentence.ts'
import type { Driver } from '../driver.ts'
import type { KubernetesDriverOptions } from './driver.ts'

const testing = testingCluster()
const skip = typeof testing === 'string' ? testing : false

type Open = (options: KubernetesDriverOptions) => Driver
type Work = (options: KubernetesDriverOptions, kubernetesDriver: Open, folder: string) => Promise<void>

/** Runs with the options of a driver that has a folder of its own. */
async function withFolder(work: Work): Promise<void> {
  if (typeof testing === 'string') return
  const { kubernetesDriver } = await import('./driver.ts')
  const { optionsFor } = await import('./testing.fixture.ts')
  const folder = await mkdtemp(join(tmpdir(), 'parley-kubernetes-'))
  try {
    await work(optionsFor(testing, folder), kubernetesDriver, folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

const sentenceOf = (options: KubernetesDriverOptions, asked: string[]): KubernetesDriverOptions => ({
  ...options,
  egress: {
    ...options.egress,
    gate: { decide: async ({ sandboxId }) => (asked.push(sandboxId), { allow: false, reason: 'nothing is allowed' }) },
  },
})

test(
  'a start that cannot be says why, in time: a bad image at once, what may mend itself at its deadline',
  { skip },
  () =>
    withFolder(async (options, kubernetesDriver) => {
      await using driver = kubernetesDriver(options)
      const told: string[] = []
      const start = (more: Parameters<typeof specOf>[0], ms: number) => {
        const spec = specOf(more)
        const starting = driver.start(spec, AbortSignal.timeout(ms), (line) => told.push(line))
        return starting.finally(() => driver.remove(spec.id))
      }
      await assert.rejects(
        start({ image: 'No/Such Name' }, 50_000),
        /image No\/Such Name cannot be had: InvalidImageName/,
      )
      await assert.rejects(
        start({ image: 'nobody.invalid/none:1' }, 9_000),
        /image nobody\.invalid\/none:1 cannot be had/,
      )
      const huge = { ...specOf().limits, memory: 2 ** 42 }
      await assert.rejects(start({ limits: huge }, 3_000), /not start in time: no node takes it: .*Insufficient memory/)
      assert.match(told.join('\n'), /Waiting: no node takes it/)
      assert.deepEqual(await driver.list(), [])
    }),
)

test('what deploy/kubernetes has of the server is what a cluster takes', { skip }, async () => {
  if (typeof testing === 'string') return
  const { KubeConfig, KubernetesObjectApi, loadAllYaml } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  config.loadFromFile(testing.kubeconfig)
  const objects = config.makeApiClient(KubernetesObjectApi)
  const taken: string[] = []
  for (const file of ['secret.example.yaml', 'server.yaml']) {
    const text = await readFile(new URL(`../../../deploy/kubernetes/${file}`, import.meta.url), 'utf8')
    for (const one of loadAllYaml(text)) taken.push((await objects.create(one, undefined, 'All')).kind ?? '')
  }
  assert.deepEqual(taken, ['Secret', 'PersistentVolumeClaim', 'Deployment', 'Service'])
})

test('a new life of the server goes on with all that runs, and with nothing of another installation', { skip }, () =>
  withFolder(async (options, kubernetesDriver) => {
    const asked: string[] = []
    const spec = specOf({ env: { WHOSE: 'mine' } })
    const first = kubernetesDriver(options)
    await first.start(spec, limit())
    const job = await (await first.hands(spec.id)).jobs.start({ command: 'echo "$WHOSE"; exec sleep 600', cwd: '/' })
    await first[Symbol.asyncDispose]()

    await withFolder(async (others) => {
      await using other = kubernetesDriver(others)
      assert.deepEqual([await other.list(), (await other.look(spec.id)).state], [[], 'missing'])
      await other.remove(spec.id)
    })

    await using again = kubernetesDriver(sentenceOf(options, asked))
    assert.deepEqual(
      (await again.list()).map(({ id, state }) => [id, state]),
      [[spec.id, 'running']],
    )
    const hands = await again.hands(spec.id)
    const [known] = await hands.jobs.list()
    assert.deepEqual([known?.id, known?.running], [job, true])
    const ask = `printf 'GET http://x.test/ HTTP/1.0\\r\\n\\r\\n' | socat -T5 - TCP4:127.0.0.1:3128 | head -n 1`
    assert.match(await text(hands, ask), /403/)
    assert.equal(asked.at(-1), spec.id)
    await again.remove(spec.id)
    assert.deepEqual(await again.list(), [])
  }),
)

test('no word of another opens a way out, and the word of a sandbox is not inside it', { skip }, () =>
  withFolder(async (options, kubernetesDriver) => {
    await using driver = kubernetesDriver(options)
    const spec = specOf()
    await driver.start(spec, limit())
    const hands = await driver.hands(spec.id)
    // What the door is told is `<sandbox id>:<48 letters>`.
    const find = `cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline /run/parley/*.pem 2>/dev/null | tr '\\0' '\\n' | grep -acE "$1:[0-9a-f]{48}"`
    assert.equal(await text(hands, find, [spec.id]), '0\n')
    await driver.remove(spec.id)
  }),
)

test('the doctor has a line for everything, and finds that this cluster enforces no network policy', { skip }, () =>
  withFolder(async (options, kubernetesDriver, folder) => {
    await using driver = kubernetesDriver(options)
    const findings = await driver.doctor(limit())
    const bad = findings.filter(({ ok }) => !ok)
    assert.deepEqual(
      bad.map(({ check, fatal }) => [check, fatal]),
      [['the network policy is enforced', true]],
    )
    const all = findings.map(({ check, detail }) => `${check}: ${detail}`).join('\n')
    for (const line of [/^cluster: version v/m, /^permissions in parley-sandboxes: yes/m, /^storage class: folders/m])
      assert.match(all, line)
    assert.deepEqual(await driver.list(), [])

    const stranger = join(folder, 'stranger')
    const text = await readFile(options.kubeconfig ?? '', 'utf8')
    await writeFile(stranger, text.replace(/token: "[^"]+"/, 'token: "nobody"'))
    await using refused = kubernetesDriver({ ...options, stateDir: join(folder, 'other'), kubeconfig: stranger })
    const [first] = await refused.doctor(limit())
    assert.deepEqual([first?.check, first?.ok, first?.fatal], ['cluster', false, true])
    assert.match(first?.detail ?? '', /does not know this account/)
  }),
)

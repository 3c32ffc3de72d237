import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeKey } from './access/key-format.ts'
import { ConfigError, readConfig } from './config.ts'
import { keptReady } from './sandboxes/spec.ts'
import { showConfig } from './show-config.ts'

test('an empty environment gives a server on loopback, port 3000, with its own database and process sandboxes', () => {
  const config = readConfig({ HOME: '/root', PATH: '/bin' })
  const { host, port, databaseUrl, role, sandbox, unisolated, v0, logLevel, baseUrl } = config
  assert.deepEqual(
    { host, port, databaseUrl, role, sandbox, unisolated, v0, logLevel, baseUrl },
    {
      host: '127.0.0.1',
      port: 3000,
      databaseUrl: null,
      role: 'all',
      sandbox: 'process',
      unisolated: false,
      v0: true,
      logLevel: 'info',
      baseUrl: null,
    },
  )
  assert.equal(config.dataDir, join(process.cwd(), 'data'))
  assert.equal(config.limits.sandboxes.per_user, 10)
  assert.equal(config.limits.start.deadline, 15 * 60_000)
})

const key = makeKey('prl')

test('every variable has its effect', () => {
  const config = readConfig({
    PARLEY_HOST: '0.0.0.0',
    PARLEY_PORT: '0',
    PARLEY_BASE_URL: 'https://parley.example.org/',
    PARLEY_DATA_DIR: '/srv/parley',
    DATABASE_URL: 'postgres://ada:pw@db/parley',
    PARLEY_ROLE: 'agent',
    PARLEY_SANDBOX_DANGEROUSLY_UNISOLATED: '1',
    PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    PARLEY_OWNER_API_KEY: key,
    PARLEY_OWNER_EMAIL: 'ada@example.org',
    PARLEY_V0: 'off',
    PARLEY_PRIVATE_HOSTS: 'Forge.internal:3000, [::1]:80',
    PARLEY_LOG_LEVEL: 'debug',
    XDG_RUNTIME_DIR: '/run/user/1000',
  })
  const { sandbox: _, sandboxImages: _images, dockerHost: _host, kubernetes: _kubernetes, ...others } = config
  assert.deepEqual(others, {
    host: '0.0.0.0',
    port: 0,
    baseUrl: 'https://parley.example.org',
    appsUrl: null,
    dataDir: '/srv/parley',
    databaseUrl: 'postgres://ada:pw@db/parley',
    role: 'agent',
    unisolated: true,
    secretKey: Buffer.alloc(32, 7),
    ownerApiKey: key,
    ownerEmail: 'ada@example.org',
    oidc: null,
    v0: false,
    privateHosts: ['forge.internal:3000', '[::1]:80'],
    limitsFile: null,
    limits: config.limits,
    logLevel: 'debug',
    xdgRuntimeDir: '/run/user/1000',
  })
})

test('the engine of sandboxes and their image can be named', () => {
  const usual = readConfig({})
  assert.deepEqual(
    [usual.sandboxImages, usual.dockerHost],
    [['buildpack-deps:bookworm'], 'unix:///var/run/docker.sock'],
  )
  const image = 'registry.example.org:5000/team/tools:2'
  const host = 'unix:///run/user/1000/docker.sock'
  const named = readConfig({ PARLEY_SANDBOX: 'docker', PARLEY_SANDBOX_IMAGE: `${image}, node:24`, DOCKER_HOST: host })
  assert.deepEqual([named.sandbox, named.sandboxImages, named.dockerHost], ['docker', [image, 'node:24'], host])
})

test('the cluster of sandboxes and what is used of it can be named', () => {
  const wayImage = 'alpine/socat:1.8.0.3'
  const usual = { kubeconfig: null, namespace: null, egressAddress: null, storageClass: null, runtimeClass: null }
  assert.deepEqual(readConfig({ PARLEY_SANDBOX: 'kubernetes' }).kubernetes, { ...usual, wayImage })
  const env = {
    KUBECONFIG: '/srv/kubeconfig',
    PARLEY_KUBERNETES_NAMESPACE: 'sandboxes',
    PARLEY_KUBERNETES_EGRESS: '[fd00::7]:3129',
    PARLEY_KUBERNETES_WAY_IMAGE: 'registry.example.org/socat:1',
    PARLEY_KUBERNETES_STORAGE_CLASS: 'fast',
    PARLEY_KUBERNETES_RUNTIME_CLASS: 'gvisor',
  }
  const named = readConfig(env)
  assert.deepEqual(named.kubernetes.egressAddress, { host: 'fd00::7', port: 3129 })
  const shown = showConfig(named)
  for (const [name, value] of Object.entries(env)) assert.ok(shown.includes(`${name}=${value}\n`), name)
})

test('names for what sandboxes serve are a URL with a star', () => {
  assert.equal(readConfig({ PARLEY_APPS_URL: 'https://*.apps.example.org/' }).appsUrl, 'https://*.apps.example.org')
})

test('an empty value counts as unset', () => {
  assert.equal(readConfig({ PARLEY_PORT: '', DATABASE_URL: ' ' }).port, 3000)
})

test('people sign in with the identity provider that is named', () => {
  const named = {
    PARLEY_OIDC_ISSUER: 'https://login.example.org',
    PARLEY_OIDC_CLIENT_ID: 'parley',
    PARLEY_OIDC_CLIENT_SECRET: 'of the client',
    PARLEY_OIDC_ALLOWED_DOMAINS: 'Example.org, team.example',
  }
  assert.deepEqual(readConfig(named).oidc, {
    issuer: 'https://login.example.org/',
    clientId: 'parley',
    clientSecret: 'of the client',
    allowedDomains: ['example.org', 'team.example'],
  })
})

test('an unknown PARLEY_ name stops the start and the nearest known one is named', () => {
  refuses({ PARLEY_PROT: '80' }, /^PARLEY_PROT: .* Did you mean PARLEY_PORT\?$/)
  refuses({ PARLEY_LIMITS_FILE: '' }, /^PARLEY_LIMITS_FILE: /)
  refuses({ PARLEY_TEAPOT_COLOUR: 'x' }, /^PARLEY_TEAPOT_COLOUR: .* There are: PARLEY_HOST, /)
})

test('variables of the command line client are no reason to stop', () => {
  assert.equal(readConfig({ PARLEY_URL: 'http://127.0.0.1:3000', PARLEY_API_KEY: 'x' }).port, 3000)
})

test('a bad value stops the start with one line that names the variable', () => {
  refuses({ PARLEY_PORT: 'eighty' }, /^PARLEY_PORT: must be a port .*"eighty"\)$/)
  refuses({ PARLEY_PORT: '65536' }, /^PARLEY_PORT: /)
  refuses({ PARLEY_HOST: '127.0.0.1:80' }, /^PARLEY_HOST: .*PARLEY_PORT/)
  refuses({ PARLEY_BASE_URL: 'parley.example.org' }, /^PARLEY_BASE_URL: must be a URL/)
  refuses({ PARLEY_BASE_URL: 'https://example.org/parley' }, /^PARLEY_BASE_URL: .*no path/)
  refuses({ DATABASE_URL: 'mysql://db/x' }, /^DATABASE_URL: /)
  refuses({ PARLEY_ROLE: 'boss' }, /^PARLEY_ROLE: must be one of all, api, agent/)
  refuses({ PARLEY_SANDBOX: 'nomad' }, /^PARLEY_SANDBOX: must be one of process, docker, kubernetes \(it is "nomad"\)$/)
  refuses({ PARLEY_SANDBOX_IMAGE: '--privileged' }, /^PARLEY_SANDBOX_IMAGE: must be an image/)
  refuses({ PARLEY_KUBERNETES_EGRESS: 'parley:3129' }, /^PARLEY_KUBERNETES_EGRESS: .*IP address/)
  refuses({ DOCKER_HOST: 'tcp://10.0.0.1:2375' }, /^DOCKER_HOST: .*on this machine/)
  refuses({ PARLEY_APPS_URL: 'https://apps.example.org' }, /^PARLEY_APPS_URL: must be a URL with a star/)
  refuses({ PARLEY_SANDBOX_DANGEROUSLY_UNISOLATED: 'yes' }, /^PARLEY_SANDBOX_DANGEROUSLY_UNISOLATED: must be on or off/)
  refuses({ PARLEY_V0: 'true' }, /^PARLEY_V0: must be on or off/)
  refuses({ PARLEY_OWNER_EMAIL: 'ada' }, /^PARLEY_OWNER_EMAIL: /)
  const oidc = { PARLEY_OIDC_CLIENT_ID: 'parley' }
  refuses(oidc, /^PARLEY_OIDC_ISSUER: must be set/)
  refuses({ PARLEY_OIDC_ISSUER: 'https://login.example.org' }, /^PARLEY_OIDC_CLIENT_ID: must be set/)
  refuses({ ...oidc, PARLEY_OIDC_ISSUER: 'http://login.example.org' }, /^PARLEY_OIDC_ISSUER: must be the https URL/)
  refuses({ PARLEY_OIDC_ALLOWED_DOMAINS: '*' }, /^PARLEY_OIDC_ALLOWED_DOMAINS: .*\*/)
  refuses({ PARLEY_PRIVATE_HOSTS: 'forge.internal' }, /^PARLEY_PRIVATE_HOSTS: .*forge\.internal/)
  refuses({ PARLEY_LOG_LEVEL: 'loud' }, /^PARLEY_LOG_LEVEL: /)
  refuses({ PARLEY_LIMITS: '/nowhere/limits.yaml' }, /^PARLEY_LIMITS: .*\/nowhere\/limits\.yaml/)
})

test('a bad secret is named but never shown', () => {
  const bad = { PARLEY_SECRET_KEY: 'hunter2', PARLEY_OWNER_API_KEY: 'hunter2', DATABASE_URL: 'hunter2' }
  assert.throws(
    () => readConfig(bad),
    (error: ConfigError) => {
      assert.deepEqual(
        error.message.split('\n').map((line) => line.split(':')[0]),
        ['DATABASE_URL', 'PARLEY_SECRET_KEY', 'PARLEY_OWNER_API_KEY'],
      )
      return !error.message.includes('hunter2')
    },
  )
})

test('a limits file changes what it names and keeps the other defaults', (t) => {
  const path = limitsFile(
    t,
    'sandboxes: { per_user: 3, idle_pause: never }\nsandbox: { memory: 512MiB }\nstart: { deadline: 90s }\n',
  )
  const { limits } = readConfig({ PARLEY_LIMITS: path })
  assert.deepEqual(limits.sandboxes, {
    per_user: 3,
    conversations_per_sandbox: 20,
    idle_pause: 'never',
    delete_after: 'never',
    warm: 1,
    warm_images: {},
    run_at_most: 'never',
  })
  assert.deepEqual(limits.sandbox, { memory: 512 * 2 ** 20, processes: 512, cpu: 2, disk: 10 * 2 ** 30 })
  assert.equal(limits.start.deadline, 90_000)
  assert.equal(limits.start.steps.PREPARING_REPOSITORY, 300_000)
  assert.deepEqual(limits.rates.start, { requests: 20, per: 60_000 })
})

test('each further image may have its own number of sandboxes that are kept ready, and no other image', (t) => {
  const path = limitsFile(t, 'sandboxes: { warm: 2, warm_images: { node:24: 3, memory: 1 } }\n')
  const env = { PARLEY_LIMITS: path, PARLEY_SANDBOX_IMAGE: 'debian:12, node:24, memory' }
  const config = readConfig(env)
  const ready = keptReady(config.limits).map(({ image, most }) => [image, most])
  assert.deepEqual(ready, [
    [null, 2],
    ['node:24', 3],
    ['memory', 1],
  ])
  const shown = showConfig(config)
  const again = { ...env, PARLEY_LIMITS: limitsFile(t, shown.slice(shown.indexOf('\n\n'))) }
  assert.deepEqual(readConfig(again).limits, config.limits)
  refuses({ ...env, PARLEY_SANDBOX_IMAGE: 'node:24, memory' }, /^PARLEY_LIMITS: .*warm_images: node:24 is none of /)
})

test('a limits file may be JSON', (t) => {
  const path = limitsFile(t, JSON.stringify({ pages: { default: 50 } }))
  assert.equal(readConfig({ PARLEY_LIMITS: path }).limits.pages.default, 50)
})

test('a limits file with a wrong field, a wrong amount or no structure stops the start', (t) => {
  const refused = (text: string, why: RegExp) => refuses({ PARLEY_LIMITS: limitsFile(t, text) }, why)
  refused('sandboxes: { per_user: 0 }', /^PARLEY_LIMITS: .*sandboxes\.per_user: /)
  refused('sandboxes: { peruser: 3 }', /^PARLEY_LIMITS: .*sandboxes: .*peruser/)
  refused(
    'sandboxes: { warm: 20, warm_images: { node:24: 31 } }',
    /^PARLEY_LIMITS: .*sandboxes\.warm: must be at most 50/,
  )
  refused('start: { deadline: 15 }', /^PARLEY_LIMITS: .*start\.deadline: must be an amount/)
  refused('sandbox: { memory: 2 parsecs }', /^PARLEY_LIMITS: .*sandbox\.memory: must be an amount/)
  refused('a: [', /^PARLEY_LIMITS: .*cannot be read/)
  refused('- 1', /^PARLEY_LIMITS: .*the document/)
})

test('the shown configuration names every variable, hides every secret, and its limits can be read again', (t) => {
  const key = makeKey('prl')
  const secret = Buffer.alloc(32, 7).toString('base64')
  const config = readConfig({
    DATABASE_URL: 'postgres://ada:hunter2@db/parley?sslpassword=hunter3',
    PARLEY_SECRET_KEY: secret,
    PARLEY_OWNER_API_KEY: key,
    PARLEY_OIDC_ISSUER: 'https://login.example.org',
    PARLEY_OIDC_CLIENT_ID: 'parley',
    PARLEY_OIDC_CLIENT_SECRET: 'hunter4',
  })
  const shown = showConfig(config)
  for (const hidden of ['hunter2', 'hunter3', 'hunter4', key, secret]) assert.ok(!shown.includes(hidden), shown)
  assert.match(shown, /^PARLEY_HOST=127\.0\.0\.1$/m)
  assert.match(shown, /^DATABASE_URL=postgres:\/\/ada:\*\*\*@db\/parley/m)
  assert.match(shown, /memory: 2GiB/)
  const limits = shown.slice(shown.indexOf('\n\n'))
  assert.deepEqual(readConfig({ PARLEY_LIMITS: limitsFile(t, limits) }).limits, config.limits)
})

function refuses(env: Record<string, string>, line: RegExp): void {
  assert.throws(
    () => readConfig(env),
    (error: Error) => error instanceof ConfigError && !error.message.includes('\n') && line.test(error.message),
    `${JSON.stringify(env)} is refused with ${line}`,
  )
}

function limitsFile(t: { after(clean: () => void): void }, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-limits-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'limits.yaml')
  writeFileSync(path, text)
  return path
}

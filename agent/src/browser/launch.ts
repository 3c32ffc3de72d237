import { createHash, randomUUID, X509Certificate } from 'node:crypto'
import type { Hands, Process } from '@parley/sandbox/driver'
import { trustFiles } from '@parley/sandbox/inside'

/**
 * Programs that are browsers of this kind, the first that is there; prints its path. What Debian has in the usual place is a
 * script that wants files of /etc.
 */
const findBrowser = `for name in /usr/lib/chromium/chromium chrome-headless-shell chromium google-chrome google-chrome-stable; do
  command -v "$name" && break
done; :`

/** The path of the sandbox's browser; null when it has none. */
export async function browserIn(hands: Hands, signal?: AbortSignal): Promise<string | null> {
  const limit = signal === undefined ? {} : { signal }
  const { stdout } = await hands.run({ script: findBrowser, timeoutMs: 10_000, ...limit })
  return stdout.toString('utf8').trim().split('\n')[0] || null
}

/** Hosts that it calls on its own. Past the proxy there is no way to them. */
const makers = [
  '*.gvt1.com',
  'android.clients.google.com',
  'clients2.google.com',
  'clients4.google.com',
  'clientservices.googleapis.com',
  'content-autofill.googleapis.com',
  'mtalk.google.com',
  'optimizationguide-pa.googleapis.com',
  'safebrowsing.googleapis.com',
  'update.googleapis.com',
]

/** It would call its maker on its own, and each such call is refused and told to the agent. */
const quiet = [
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-component-extensions-with-background-pages',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-extensions',
  '--disable-features=NetworkTimeServiceQuerying,OptimizationHints,MediaRouter,Translate,InterestFeedContentSuggestions,CertificateTransparencyComponentUpdater',
  '--disable-field-trial-config',
  '--disable-search-engine-choice-screen',
  '--disable-sync',
  '--enable-automation',
  '--metrics-recording-only',
  '--no-service-autorun',
  '--no-default-browser-check',
  '--no-first-run',
  '--no-pings',
  '--password-store=basic',
]

const basic = [
  '--headless',
  // The sandbox is the isolation, and lets nothing in it make another one.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-site-isolation-trials',
  '--hide-scrollbars',
  '--mute-audio',
  '--window-size=1280,800',
  '--remote-debugging-pipe',
  `--proxy-bypass-list=${makers.join(';')}`,
]

export interface Launched {
  process: Process
  /** Of its profile. */
  folder: string
}

/** Its orders come in on the standard input and its answers go out on the standard output. */
export async function launch(hands: Hands, path: string, cwd: string): Promise<Launched> {
  const { tmp, proxyPort } = hands.layout
  const folder = `${tmp}/.parley/browser-${randomUUID().slice(0, 8)}`
  const own = await ownAuthority(hands)
  const trusted = own === null ? [] : [`--ignore-certificate-errors-spki-list=${own}`]
  const script = 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null'
  const way = `--proxy-server=http://127.0.0.1:${proxyPort}`
  const args = [...basic, way, ...quiet, ...trusted, `--user-data-dir=${folder}`, 'about:blank']
  return { process: hands.spawn({ argv: ['/bin/sh', '-c', script, path, ...args], cwd }), folder }
}

/** The key of the sandbox's own authority, by which the way out may speak for a host. */
async function ownAuthority({ files, layout }: Hands): Promise<string | null> {
  try {
    const { publicKey } = new X509Certificate(await files.read(`${layout.runtime}/${trustFiles.own}`))
    return createHash('sha256')
      .update(publicKey.export({ type: 'spki', format: 'der' }))
      .digest('base64')
  } catch {
    return null
  }
}

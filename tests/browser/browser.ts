import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

/* A real browser on the real page. Everything it complains about is kept: a page that is sound says nothing. */

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export interface Visitor extends AsyncDisposable {
  page: Page
  context: BrowserContext
  /** Errors of scripts, refusals of the page's policy, and requests that went to another address. */
  complaints(): string[]
}

export interface Visits extends AsyncDisposable {
  visit(url: string, options?: Parameters<Browser['newContext']>[0]): Promise<Visitor>
}

export async function openBrowser(): Promise<Visits> {
  const executablePath = places.find((path) => existsSync(path))
  if (executablePath === undefined) throw new Error('there is no Chromium on this machine')
  const browser = await chromium.launch({ executablePath, args })
  return {
    visit: (url, options) => visit(browser, url, options),
    [Symbol.asyncDispose]: () => browser.close(),
  }
}

/** What the browser writes into its console for an answer that is no success, whatever the page makes of it. */
const answers = /^Failed to load resource/

async function visit(browser: Browser, url: string, options: Parameters<Browser['newContext']>[0]): Promise<Visitor> {
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const heard: string[] = []
  // A refusal that the page catches is in no console: only the event tells.
  await page.exposeFunction('refused', (text: string) => heard.push(`policy: ${text}`))
  await page.addInitScript(`addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile, lineNumber }) =>
    refused([violatedDirective, blockedURI, sourceFile, lineNumber].join(' ')))`)
  page.on('pageerror', (error) => heard.push(`error: ${error.message}`))
  page.on('console', (message) => {
    const isBad = message.type() === 'error' || message.type() === 'warning'
    if (isBad && !answers.test(message.text())) heard.push(`${message.type()}: ${message.text()}`)
  })
  page.on('dialog', (dialog) => {
    heard.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const { protocol, origin, hostname } = new URL(request.url())
    // What a sandbox serves, in a frame.
    if (hostname.endsWith('.localhost')) return
    if (/^(https?|wss?):$/.test(protocol) && origin !== new URL(url).origin) heard.push(`request to ${request.url()}`)
  })
  return { page, context, complaints: () => heard, [Symbol.asyncDispose]: () => context.close() }
}

/** Resolves when nothing on the page has changed for a moment: what was asked for has come and been drawn. */
export async function quiet(page: Page, ms = 200): Promise<void> {
  await page.evaluate(`new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('the page does not come to rest')), 15_000)
    let still = setTimeout(done, ${ms})
    const watch = new MutationObserver(() => (clearTimeout(still), (still = setTimeout(done, ${ms}))))
    watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
    function done() {
      clearTimeout(late)
      watch.disconnect()
      resolve()
    }
  })`)
}

export const password = 'a password of 24 letters'

/** Takes the owner's account with the link that the program printed. */
export async function claim(page: Page, said: string): Promise<void> {
  const link = /\/sign-in\?token=\S+/.exec(said)?.[0]
  if (link === undefined) throw new Error('the program printed no link')
  await page.goto(link)
  await page.getByLabel('E-mail').fill('ada@example.com')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Create the account' }).click()
  await page.getByRole('heading', { name: 'Welcome to Parley' }).waitFor()
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { Hands } from '@parley/sandbox/driver'
import { BrowserError, type Cdp, type CdpEvent, openCdp } from './cdp.ts'
import { launch } from './launch.ts'

/** One browser with its pages. What a page says beside its content is kept until it is told. */
export interface BrowserSession {
  /** To the page in front. */
  send<T = unknown>(method: string, params?: object): Promise<T>
  /** Resolves when the page in front has come to rest, or has not after a while. */
  settled(signal: AbortSignal): Promise<void>
  /** How many pages are open. */
  readonly pages: number
  /** Ends the page in front; false when it is the only one. */
  closePage(): Promise<boolean>
  /** What pages logged, asked or failed at since the last call. */
  news(): string[]
  /** Numbers of the last snapshot of the page in front. */
  marks: Map<number, number>
  readonly gone: boolean
  close(): Promise<void>
}

const mostNews = 20
const longestNews = 500
const stepMs = 100
const loadMs = 15_000
/** A page that never rests, such as one with a clock, is taken as it is. */
const restMs = 2_500

export async function openBrowser(hands: Hands, path: string, cwd: string): Promise<BrowserSession> {
  const { process, folder } = await launch(hands, path, cwd)
  const pages: string[] = []
  const news: string[] = []
  let marks = new Map<number, number>()
  const front = () => pages.at(-1)
  const note = (text: string) => {
    news.push(text.length > longestNews ? `${text.slice(0, longestNews)}…` : text)
    if (news.length > mostNews) news.shift()
  }
  const cdp = openCdp(process, (event) => heard(cdp, event, { pages, note }))
  const send = <T>(method: string, params?: object): Promise<T> => {
    const page = front()
    return page === undefined ? Promise.reject(new BrowserError('No page is open.')) : cdp.send<T>(method, params, page)
  }
  async function close(): Promise<void> {
    await process.kill(500)
    await hands.files.remove(folder).catch(() => {})
  }
  try {
    await cdp.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: true })
    await cdp.send('Browser.setDownloadBehavior', { behavior: 'deny' })
    if (front() === undefined) await cdp.send('Target.createTarget', { url: 'about:blank' })
  } catch (error) {
    await close()
    throw error
  }
  return {
    send,
    settled: (signal) => settled(send, () => signal.aborted || cdp.gone),
    get pages() {
      return pages.length
    },
    async closePage() {
      if (pages.length < 2) return false
      await send('Page.close')
      for (let waited = 0; waited < 2_000 && pages.length > 1; waited += stepMs) await sleep(stepMs)
      return true
    },
    news: () => news.splice(0),
    get marks() {
      return marks
    },
    set marks(next) {
      marks = next
    },
    get gone() {
      return cdp.gone
    },
    close,
  }
}

interface Desk {
  /** Sessions, the one in front last. */
  pages: string[]
  note: (text: string) => void
}

function heard(cdp: Cdp, { method, params, session }: CdpEvent, { pages, note }: Desk): void {
  const quietly = (...[name, more, page]: Parameters<Cdp['send']>) => void cdp.send(name, more, page).catch(() => {})
  if (method === 'Target.attachedToTarget') {
    const { sessionId, targetInfo } = params as { sessionId: string; targetInfo: { type: string } }
    if (targetInfo.type !== 'page') return
    if (pages.length > 0) note('A new page was opened, and is in front now.')
    pages.push(sessionId)
    for (const domain of ['Page', 'Runtime', 'Log']) quietly(`${domain}.enable`, {}, sessionId)
  } else if (method === 'Target.detachedFromTarget') {
    const at = pages.indexOf(String(params['sessionId']))
    if (at >= 0) pages.splice(at, 1)
  } else if (method === 'Page.javascriptDialogOpening' && session !== null) {
    // Nothing else of the page moves until it is answered.
    const accept = params['type'] === 'alert' || params['type'] === 'beforeunload'
    quietly('Page.handleJavaScriptDialog', { accept }, session)
    note(`The page asked (${String(params['type'])}): ${String(params['message'])} — answered ${accept ? 'OK' : 'no'}.`)
  } else if (method === 'Runtime.exceptionThrown') note(`Error in the page: ${exceptionText(params)}`)
  else if (method === 'Runtime.consoleAPICalled' && (params['type'] === 'error' || params['type'] === 'warning'))
    note(`console.${String(params['type'])}: ${consoleText(params)}`)
  else if (method === 'Log.entryAdded') {
    const entry = params['entry'] as { level?: string; text?: string; url?: string }
    // Every page is asked for its picture; most have none.
    if (entry.level === 'error' && entry.url?.endsWith('/favicon.ico') !== true)
      note(`${entry.text ?? ''} ${entry.url ?? ''}`.trim())
  } else if (method === 'Browser.downloadWillBegin') note('A download was refused; fetch files with the terminal.')
}

function exceptionText({ exceptionDetails }: Record<string, unknown>): string {
  const { text, exception } = exceptionDetails as { text?: string; exception?: { description?: string } }
  return exception?.description ?? text ?? ''
}

function consoleText({ args }: Record<string, unknown>): string {
  const values = args as { value?: unknown; description?: string }[]
  return values.map(({ value, description }) => (value === undefined ? (description ?? '') : String(value))).join(' ')
}

/** Loaded, and as large as it was a moment ago. A page that is on its way to another one cannot be asked. */
async function settled(send: BrowserSession['send'], over: () => boolean): Promise<void> {
  const from = Date.now()
  let before = ''
  while (Date.now() - from < loadMs) {
    await sleep(stepMs)
    const expression = 'document.readyState + " " + location.href + " " + document.documentElement.outerHTML.length'
    const said = await send<{ result: { value?: unknown } }>('Runtime.evaluate', { expression }).catch(
      (error: unknown) => {
        if (over() || Date.now() - from > loadMs) throw error
        return null
      },
    )
    const now = String(said?.result.value ?? '')
    const loaded = now.startsWith('complete')
    if (loaded && (now === before || Date.now() - from > restMs)) return
    before = now
  }
}

import { cutMiddle } from '../tools/observation.ts'
import { BrowserError } from './cdp.ts'
import { keyNames, keyOf } from './keys.ts'
import type { BrowserSession } from './session.ts'
import { type AxNode, snapshotOf } from './snapshot.ts'

/** What can be done with the page in front. Each rejects with `BrowserError` when it cannot be done, in words for the model. */

const pageLimit = 20_000
const scriptLimit = 20_000
const mostFrames = 5

export async function go(page: BrowserSession, url: string): Promise<void> {
  const { errorText } = await page.send<{ errorText?: string }>('Page.navigate', { url })
  if (errorText === undefined) return
  const refused = /TUNNEL|PROXY/.test(errorText) ? ' The network of the sandbox may not reach this host.' : ''
  throw new BrowserError(`${url} could not be opened: ${errorText}.${refused}`)
}

/** The content of the page as text; from then on its numbers are those of the page. */
export async function readPage(page: BrowserSession): Promise<string> {
  const { frameTree } = await page.send<{ frameTree: FrameTree }>('Page.getFrameTree')
  const frames = (frameTree.childFrames ?? []).slice(0, mostFrames).map(({ frame }) => frame)
  const marks = new Map<number, number>()
  const texts: string[] = []
  for (const frame of [null, ...frames]) {
    const of = frame === null ? {} : { frameId: frame.id }
    const tree = await page.send<{ nodes: AxNode[] }>('Accessibility.getFullAXTree', of).catch((error: unknown) => {
      if (frame === null) throw error
      return { nodes: [] }
    })
    const { text, marks: found } = snapshotOf(tree.nodes, pageLimit, Math.max(0, ...marks.keys()) + 1)
    for (const [number, node] of found) marks.set(number, node)
    if (text !== '') texts.push(frame === null ? text : `--- frame ${frame.url.slice(0, 200)}\n${text}`)
  }
  page.marks = marks
  const title = await evaluated<string>(page, 'document.title')
  const url = await evaluated<string>(page, 'location.href')
  const others = page.pages > 1 ? ` (${page.pages} pages are open; back closes this one)` : ''
  return [`${title || 'A page without a title'} — ${url.slice(0, 1_000)}${others}`, ...texts].join('\n')
}

interface FrameTree {
  frame: { id: string; url: string }
  childFrames?: FrameTree[]
}

export async function click(page: BrowserSession, element: number): Promise<void> {
  const backendNodeId = nodeOf(page, element)
  await page.send('DOM.scrollIntoViewIfNeeded', { backendNodeId }).catch(() => {})
  const { quads } = await page
    .send<{ quads: number[][] }>('DOM.getContentQuads', { backendNodeId })
    .catch(() => ({ quads: [] }))
  const [quad] = quads
  // What has no place, such as the option of a list, is clicked by its own word.
  if (quad === undefined) return void (await called(page, backendNodeId, 'function () { this.click() }'))
  const middle = (at: number) => [0, 2, 4, 6].reduce((sum, corner) => sum + (quad[corner + at] ?? 0), 0) / 4
  const at = { x: middle(0), y: middle(1), button: 'left', clickCount: 1 }
  await page.send('Input.dispatchMouseEvent', { ...at, type: 'mouseMoved', button: 'none' })
  await page.send('Input.dispatchMouseEvent', { ...at, type: 'mousePressed' })
  await page.send('Input.dispatchMouseEvent', { ...at, type: 'mouseReleased' })
}

const choose = `function (text) {
  if (!(this instanceof HTMLSelectElement)) { this.focus(); if (this.select) this.select()
    else if (this.isContentEditable) getSelection().selectAllChildren(this); return 'typed' }
  const found = [...this.options].find((one) => one.label.trim() === text || one.value === text)
  if (!found) return 'It has: ' + [...this.options].map((one) => one.label.trim()).join(', ').slice(0, 1000)
  this.value = found.value
  this.dispatchEvent(new Event('input', { bubbles: true }))
  this.dispatchEvent(new Event('change', { bubbles: true }))
  return 'chosen'
}`

/** In the place of what is there. A line break at the end presses Enter; of a list the option of this name is chosen. */
export async function type(page: BrowserSession, element: number, text: string): Promise<void> {
  const enters = text.endsWith('\n')
  const words = enters ? text.slice(0, -1) : text
  const done = await called(page, nodeOf(page, element), choose, [words])
  if (done === 'chosen') return
  if (done !== 'typed') throw new BrowserError(`There is no option ${JSON.stringify(words)}. ${String(done)}`)
  if (words === '') await press(page, 'Delete')
  else await page.send('Input.insertText', { text: words })
  if (enters) await press(page, 'Enter')
}

export async function press(page: BrowserSession, name: string): Promise<void> {
  const key = keyOf(name)
  if (key === null) throw new BrowserError(`There is no key ${JSON.stringify(name)}. Keys: ${keyNames.join(', ')}.`)
  await page.send('Input.dispatchKeyEvent', { ...key, type: key.text === undefined ? 'rawKeyDown' : 'keyDown' })
  await page.send('Input.dispatchKeyEvent', { ...key, type: 'keyUp' })
}

export async function back(page: BrowserSession): Promise<void> {
  const history = await page.send<{ currentIndex: number; entries: { id: number; url: string }[] }>(
    'Page.getNavigationHistory',
  )
  const before = history.entries[history.currentIndex - 1]
  // The first page of a browser is empty.
  if (before !== undefined && before.url !== 'about:blank')
    return void (await page.send('Page.navigateToHistoryEntry', { entryId: before.id }))
  if (!(await page.closePage())) throw new BrowserError('There is no page before this one.')
}

/** What an expression gives, as JSON. */
export async function script(page: BrowserSession, expression: string): Promise<string> {
  const value = await evaluated<unknown>(page, expression)
  return cutMiddle(JSON.stringify(value, null, 1) ?? 'undefined', scriptLimit)
}

/** As a data address. */
export async function screenshot(page: BrowserSession): Promise<string> {
  const { data } = await page.send<{ data: string }>('Page.captureScreenshot', { format: 'jpeg', quality: 70 })
  return `data:image/jpeg;base64,${data}`
}

interface Evaluated {
  result: { value?: unknown; description?: string }
  exceptionDetails?: { text?: string; exception?: { description?: string } }
}

async function evaluated<T>(page: BrowserSession, expression: string): Promise<T> {
  const options = { expression, awaitPromise: true, returnByValue: true, userGesture: true }
  const { result, exceptionDetails } = await page.send<Evaluated>('Runtime.evaluate', options)
  if (exceptionDetails !== undefined)
    throw new BrowserError(exceptionDetails.exception?.description ?? exceptionDetails.text ?? 'It failed.')
  return result.value as T
}

async function called(
  page: BrowserSession,
  backendNodeId: number,
  body: string,
  args: unknown[] = [],
): Promise<unknown> {
  const { object } = await page.send<{ object: { objectId: string } }>('DOM.resolveNode', { backendNodeId })
  const options = { functionDeclaration: body, objectId: object.objectId, returnByValue: true, userGesture: true }
  const { result } = await page.send<Evaluated>('Runtime.callFunctionOn', {
    ...options,
    arguments: args.map((value) => ({ value })),
  })
  return result.value
}

function nodeOf(page: BrowserSession, element: number): number {
  const node = page.marks.get(element)
  if (node === undefined) throw new BrowserError(`The page has no element ${element}; read it again.`)
  return node
}

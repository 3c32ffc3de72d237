import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Observation } from '@parley/contract/events'
import { openTestSandbox, type TestSandbox } from '../testing-sandbox.ts'
import { assertTool } from '../tools/conformance.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'
import { browser } from './browser.ts'
import { keyOf } from './keys.ts'
import { browserIn } from './launch.ts'
import { snapshotOf } from './snapshot.ts'

const page = `<title>Shop</title><h1>Fruit</h1><p>Fresh <b>today</b>.</p>
<form onsubmit="event.preventDefault(); document.getElementById('said').textContent = name.value + ' ' + kind.value">
<label>Name <input name="name" value="old"></label>
<label>Kind <select name="kind"><option>Apple</option><option>Pear</option></select></label>
<button>Order</button></form>
<p id="said"></p>
<button onclick="if (confirm('Sure?')) this.remove(); console.error('not sure'); throw new Error('broken')">Delete</button>
<a href="/next.html">Next</a> <a href="/next.html" target="_blank">Beside</a>
<iframe srcdoc="<button onclick='this.textContent = 1 + 1'>Inner</button>"></iframe>
<button disabled>No</button> <button onclick="setTimeout(() => { location.href = '/next.html' }, 50)">Later</button>`

let sandbox: TestSandbox
let desk: ToolContext
let tool: Tool
before(async () => {
  sandbox = await openTestSandbox()
  await sandbox.put({ 'site/index.html': page, 'site/next.html': '<title>Next</title><p>The next page.' })
  await sandbox.hands.jobs.start({ command: 'python3 -m http.server 8123 --bind 127.0.0.1', cwd: '/workspace/site' })
  await sandbox.hands.run({ script: 'until curl -s http://127.0.0.1:8123/ >/dev/null; do sleep 0.05; done' })
  desk = sandbox.desk()
  tool = browser((await browserIn(sandbox.hands)) ?? assert.fail('this machine has no browser'))
})
after(async () => {
  await tool.close?.(desk.memory)
  await sandbox[Symbol.asyncDispose]()
})

const textOf = ({ content }: Observation): string =>
  content.map((one) => (one.type === 'text' ? one.text : '')).join('')
async function does(action: string, more: object = {}): Promise<string> {
  const seen = await tool.run(tool.input.parse({ action, ...more }), desk)
  assert.equal(seen.is_error, false, textOf(seen))
  return textOf(seen)
}
async function refuses(action: string, more: object = {}): Promise<string> {
  const seen = await tool.run(tool.input.parse({ action, ...more }), desk)
  assert.equal(seen.is_error, true, textOf(seen))
  return textOf(seen)
}
/** The number before a line of the answer. */
const numberIn = (text: string, line: RegExp): number =>
  Number(/\[(\d+)\]/.exec(text.split('\n').find((one) => line.test(one)) ?? '')?.[1])

test('a page is read as text, filled in and sent by its numbers', async () => {
  assert.match(await refuses('read'), /Begin with open/)
  const seen = await does('open', { url: 'localhost:8123' })
  assert.match(seen, /^Shop — http:\/\/localhost:8123\/\n/)
  assert.match(seen, /heading "Fruit"\n.*Fresh\n.*today/)
  assert.match(seen, /\[\d+\] textbox "Name" = "old"/)
  assert.match(seen, /\[\d+\] link "Next" http:\/\/localhost:8123\/next\.html/)
  assert.match(seen, /button "No" \(disabled\)/)
  await does('type', { element: numberIn(seen, /textbox "Name"/), text: 'Ada' })
  assert.match(await refuses('type', { element: numberIn(seen, /"Kind"/), text: 'Plum' }), /It has: Apple, Pear/)
  const chosen = await does('type', { element: numberIn(seen, /"Kind"/), text: 'Pear' })
  assert.match(await does('click', { element: numberIn(chosen, /button "Order"/) }), /Ada Pear/)
  const again = await does('type', { element: numberIn(chosen, /textbox "Name"/), text: 'Grace\n' })
  assert.match(again, /Grace Pear/)
})

test('what a page asks, logs and fails at is told, and does not hold it up', async () => {
  const seen = await does('read')
  const said = await does('click', { element: numberIn(seen, /button "Delete"/) })
  assert.match(said, /button "Delete"/)
  assert.match(said, /\[The page asked \(confirm\): Sure\? — answered no\.\]/)
  assert.match(said, /\[console\.error: not sure\]/)
  assert.match(said, /\[Error in the page: Error: broken/)
  const inner = await does('click', { element: numberIn(said, /button "Inner"/) })
  assert.match(inner, /--- frame about:srcdoc\n.*button "2"/)
})

test('links, new pages and pages that come late are followed, and back leads back', async () => {
  const seen = await does('read')
  assert.match(await does('click', { element: numberIn(seen, /button "Later"/) }), /^Next — /)
  const home = await does('back')
  assert.match(home, /^Shop/)
  const beside = await does('click', { element: numberIn(home, /link "Beside"/) })
  assert.match(beside, /^Next — .* \(2 pages are open; back closes this one\)\n.*The next page\./)
  assert.match(await does('back'), /^Shop — [^(]*\n/)
  assert.match(await refuses('click', { element: 999 }), /no element 999/)
})

test('a script gives what it comes to, a screenshot is an image, keys are pressed', async () => {
  assert.equal(await does('script', { text: 'Promise.resolve([1 + 1, document.title])' }), '[\n 2,\n "Shop"\n]')
  assert.match(await refuses('script', { text: 'nothing.here' }), /ReferenceError/)
  const seen = await tool.run(tool.input.parse({ action: 'screenshot' }), desk)
  const [image] = seen.content
  assert.match(image?.type === 'image' ? (image.image_urls[0] ?? '') : '', /^data:image\/jpeg;base64,\/9j/)
  await does('script', { text: 'addEventListener("keydown", (e) => { document.title = e.key + e.ctrlKey }), 0' })
  assert.match(await does('press', { text: 'Control+a' }), /^atrue — /)
  assert.match(await refuses('press', { text: 'Nope' }), /There is no key "Nope"/)
})

test('nothing but the tool can drive the browser, and the web is where the way out leads', async () => {
  const script = 'cat /proc/net/tcp /proc/net/tcp6 | awk \'$4=="0A"{print $2}\' | sort -u'
  const { stdout } = await sandbox.hands.run({ script })
  const ports = stdout
    .toString()
    .trim()
    .split('\n')
    .map((line) => parseInt(line.split(':')[1] ?? '', 16))
  assert.deepEqual(ports.toSorted(), [3128, 8123], 'the way out and our page; no port of the browser')
  assert.match(await refuses('open', { url: 'https://example.com' }), /network of the sandbox may not reach/)
  assert.match(await refuses('open', { url: 'chrome://settings' }), /cannot be opened/)
})

test('a browser that ended is begun anew, and one that cannot begin says so', async () => {
  await sandbox.hands.run({
    script: 'pkill -KILL -o chromium || kill -9 $(pidof chromium | tr " " "\\n" | sort -n | head -1)',
  })
  assert.match(await refuses('read'), /ended|Begin with open/)
  assert.match(await does('open', { url: 'http://127.0.0.1:8123/next.html' }), /^Next/)
  const none = await browser('/usr/bin/false').run({ action: 'open', url: 'localhost' }, sandbox.desk())
  assert.match(textOf(none), /The browser ended/)
})

test('a large tree is cut, with numbers only for what is shown; keys have their names', () => {
  const nodes = Array.from({ length: 1_000 }, (_, at) => ({
    nodeId: String(at),
    role: { value: at === 0 ? 'RootWebArea' : 'button' },
    name: { value: `Button ${at}` },
    backendDOMNodeId: at,
    ...(at === 0 ? { childIds: Array.from({ length: 999 }, (_, n) => String(n + 1)) } : { parentId: '0' }),
  }))
  const { text, marks } = snapshotOf(nodes, 1_000)
  assert.ok(text.length < 1_200 && marks.size < 50)
  assert.match(text, /more lines of the page left out/)
  assert.deepEqual(
    [keyOf('enter')?.key, keyOf('Shift+Tab')?.modifiers, keyOf(' ')?.key, keyOf('x')?.text],
    ['Enter', 8, ' ', 'x'],
  )
})

test('browser keeps what every tool promises', () => assertTool(tool, sandbox.desk(), [{ action: 'read' }]))

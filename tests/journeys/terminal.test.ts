import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parley } from '@parley/client/client'
import { type TerminalOutput, terminalWindow } from '@parley/contract/terminal'
import { begin, openHouse, until } from '../tools/house.ts'

/* A person's own terminal in the sandbox of a conversation. */

const house = await openHouse({ scripts: {} })
after(() => house[Symbol.asyncDispose]())
const { ada, server } = house
const id = await begin(ada, {})

async function open(size = { columns: 90, rows: 20 }) {
  const line = await ada.conversations.terminal({ params: { id }, query: size })
  let said = ''
  let exit: TerminalOutput | undefined
  const ended = (async () => {
    for await (const frame of line.messages) {
      if (frame.type === 'output') said += frame.data
      else exit = frame
    }
  })()
  const shows = (text: string | RegExp) =>
    until(`the terminal shows ${text}`, 20_000, () =>
      typeof text === 'string' ? said.includes(text) : text.test(said),
    )
  const type = (data: string) => line.send({ type: 'input', data })
  return { line, type, shows, ended, said: () => said, exit: () => exit }
}

test('one types into a shell in the working directory, and it says how it ended', async () => {
  const one = await open()
  one.type('pwd; stty size; echo $((40+2)) made > made-by-hand\n')
  await one.shows(/\/workspace\/\S+\r\n20 90/)
  one.line.send({ type: 'resize', columns: 120, rows: 30 })
  await until('the size has changed', 20_000, async () => {
    one.type('stty size\n')
    return one.said().includes('30 120')
  })
  one.type('exit 7\n')
  await one.ended
  assert.deepEqual(one.exit(), { type: 'exit', code: 7 })
  const file = await ada.conversations.readFile({ params: { id }, query: { file_path: 'made-by-hand' } })
  assert.equal(file, '42 made\n')
})

test('output that nobody draws waits, and goes on when it has been drawn', async () => {
  const one = await open()
  one.type("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo all-$((1+1))\n")
  await until('the window is full', 20_000, () => one.said().length > terminalWindow)
  let drawn = 0
  assert.ok(!one.said().includes('all-2'))
  await until('all has come', 30_000, () => {
    const fresh = Math.min(one.said().length - drawn, terminalWindow)
    if (fresh > 0) one.line.send({ type: 'drawn', characters: fresh })
    drawn += fresh
    return one.said().includes('all-2')
  })
  one.line.close()
  await one.ended
})

test('what runs in a terminal ends with its line', async () => {
  const one = await open()
  one.type('echo up; exec sleep 4243\n')
  await one.shows('up\r\n')
  one.line.close()
  const two = await open()
  await until('the sleep has ended', 20_000, async () => {
    two.type("grep -lz '^4243$' /proc/[0-9]*/cmdline 2>/dev/null | wc -l | sed 's/^/left=/'\n")
    return two.said().includes('left=0')
  })
  two.line.close()
})

test('a terminal of somebody else, or of nothing, does not open', async () => {
  const eve = parley({ baseUrl: server.url, key: await server.keyOf('eve') })
  const line = await eve.conversations.terminal({ params: { id } })
  const read = async () => {
    for await (const frame of line.messages) assert.notEqual(frame.type, 'output')
  }
  await assert.rejects(read, { code: 'not_found' })
})

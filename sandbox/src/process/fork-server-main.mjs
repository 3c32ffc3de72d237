// @ts-check
/*
 * The process that starts programs for the server: see `fork-server.ts`. Small on purpose, and plain JavaScript, so that Node
 * need not load what strips types: the less memory it has, the faster it forks.
 */
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'

/** @typedef {{ id: number, program: string, args: string[], env: Record<string, string>, pipes: number }} Start */
/** @typedef {Start | { id: number, fd: number, text: string } | { id: number, kill: NodeJS.Signals }} Order */

const [path = ''] = process.argv.slice(2)
/** @type {import('node:net').Socket[]} */
const arrived = []
/** @type {Order[]} */
const orders = []
/** @type {Map<number, import('node:child_process').ChildProcess>} */
const running = new Map()

/** @param {object} message */
const say = (message) => process.connected && process.send?.(message, () => undefined) // who has gone hears nothing

/**
 * Connections come in the order in which they were opened, and so do orders: the next three belong to the next program. An
 * order waits for those before it.
 */
function work() {
  for (;;) {
    const [order] = orders
    if (order === undefined || ('program' in order && arrived.length < 3)) return
    orders.shift()
    if ('program' in order) start(order, arrived.splice(0, 3))
    else if ('kill' in order) running.get(order.id)?.kill(order.kill)
    else /** @type {import('node:net').Socket} */ (running.get(order.id)?.stdio[order.fd])?.end(order.text)
  }
}

/**
 * @param {Start} wants
 * @param {import('node:net').Socket[]} streams
 */
function start({ id, program, args, env, pipes }, streams) {
  const child = spawn(program, args, {
    cwd: '/',
    stdio: [...streams, ...Array.from({ length: pipes }, () => /** @type {const} */ ('pipe'))],
    env,
  })
  // The child has its own descriptors of them.
  for (const stream of streams) stream.destroy()
  running.set(id, child)
  child.on('error', (error) => {
    running.delete(id)
    say({ id, failed: error.message })
  })
  child.on('exit', (code, signal) => {
    running.delete(id)
    say({ id, code, signal })
  })
  child.stdio.slice(3).forEach((stream, index) => {
    const readable = /** @type {import('node:net').Socket} */ (stream)
    readable.on('error', () => undefined) // the other end has gone: `exit` says so
    readable.setEncoding('utf8').on('data', (text) => say({ id, fd: 3 + index, text }))
  })
  if (child.pid !== undefined) say({ id, pid: child.pid })
}

process.on('message', (/** @type {Order} */ order) => {
  orders.push(order)
  work()
})
// The server has ended, however it did. What was started here ends with us.
process.on('disconnect', () => process.exit())
// Who ends the server tells it, and it tells us.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => undefined)

createServer({ pauseOnConnect: true, allowHalfOpen: true }, (stream) => {
  stream.on('error', () => undefined)
  arrived.push(stream)
  work()
}).listen({ path, backlog: 4096 }, () => say({ listening: true }))

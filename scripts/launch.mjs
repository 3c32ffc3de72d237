/* A program of ours in the foreground: signals go to it, its exit code comes back, and it never outlives us. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
/** What Node made of our files is kept: it halves the time to start. */
const compiled = fileURLToPath(new URL('../node_modules/.cache/parley/compiled', import.meta.url))
const leash = new URL('leash.mjs', import.meta.url).href

/**
 * Runs `node script args…` with our terminal and ends this process as it ends. It stands in a process group of its own, so
 * that Ctrl-C, which the terminal sends to every process of the group, reaches it once and through us. When whoever
 * started us is gone without a word it is asked to stop, and killed 20 s later.
 * @param {string} node
 * @param {string} script
 * @param {string[]} args
 * @param {number} againAfterMs A program that ends badly and unasked is started again when it had run for so long; one that
 *   ends sooner has been set up wrongly, and would only end again.
 */
export function launch(node, script, args, againAfterMs = Number.POSITIVE_INFINITY) {
  let child
  let isAsked = false
  const run = () => {
    const began = performance.now()
    child = spawn(node, ['--import', leash, script, ...args], {
      stdio: 'inherit',
      detached: true,
      env: { NODE_COMPILE_CACHE: compiled, ...process.env },
    })
    child.once('error', (error) => {
      process.stderr.write(`${node} cannot be run: ${error.message}\n`)
      process.exit(1)
    })
    child.once('exit', (code, signal) => {
      if (code === 0 || isAsked || performance.now() - began < againAfterMs)
        process.exit(signal === null ? code : 128 + constants.signals[signal])
      process.stderr.write(`The program ended with ${signal ?? code} and is started again.\n`)
      run()
    })
  }
  run()
  const forward = onceASecond((signal) => {
    isAsked = true
    child.kill(signal)
  })
  for (const signal of signals) process.on(signal, forward)
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    forward('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), 20_000).unref()
  }, 500)
}

/** A terminal and npm may both send the same signal for one Ctrl-C. */
function onceASecond(send) {
  const sent = new Map()
  return (signal) => {
    if (Date.now() - (sent.get(signal) ?? 0) < 1000) return
    sent.set(signal, Date.now())
    send(signal)
  }
}

/* One long step of the set-up: says what it does, how long it takes, and the end of the output when it fails. */
import { spawn } from 'node:child_process'

/** The set-up cannot go on; the message is for the person at the terminal. */
export class SetupError extends Error {
  name = 'SetupError'
}

/**
 * Runs a program and prints `label`, a line every ten seconds while it works, and how long it took. Rejects with a
 * `SetupError` that ends with the last lines of its output. A signal to us ends it too.
 * @param {string} label
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, timeoutMs?: number }} [options]
 */
export async function step(label, program, args, { cwd, env, timeoutMs = 1_200_000 } = {}) {
  const begun = Date.now()
  const seconds = () => Math.round((Date.now() - begun) / 1000)
  process.stdout.write(`${label} …\n`)
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs })
  const tail = keepTail(child)
  const ticker = setInterval(() => process.stdout.write(`  still at it, ${seconds()} s\n`), 10_000)
  const release = endWithUs(child)
  try {
    const end = await ended(child)
    if (end !== 0) throw new SetupError(`${label}: failed (${end}).\n${tail()}`)
  } finally {
    clearInterval(ticker)
    release()
  }
  process.stdout.write(`  done in ${seconds()} s\n`)
}

const ended = (child) =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(signal ?? code))
  })

function keepTail(child) {
  let text = ''
  const add = (chunk) => (text = (text + chunk).slice(-4000))
  child.stdout.setEncoding('utf8').on('data', add)
  child.stderr.setEncoding('utf8').on('data', add)
  return () => text.trimEnd().split('\n').slice(-20).join('\n')
}

function endWithUs(child) {
  const stop = (signal) => {
    child.kill(signal)
    process.exitCode = 1
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)
  return () => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, stop)
  }
}

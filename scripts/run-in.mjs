/* A program as one step of a list: its output on ours, a deadline, and nothing of its process group left afterwards. */
import { spawn } from 'node:child_process'

/**
 * @param {string} cwd
 * @param {string} program
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, timeoutMs: number }} options
 * @returns {Promise<number | string>} the exit code, or why there is none
 */
export function runIn(cwd, program, args, { env = process.env, timeoutMs }) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'], detached: true })
    const endGroup = () => endAll(child.pid)
    const stop = (signal) => {
      endGroup()
      process.exit(signal === 'SIGINT' ? 130 : 143)
    }
    process.once('SIGINT', stop).once('SIGTERM', stop)
    let late = false
    const timer = setTimeout(() => {
      late = true
      endGroup()
    }, timeoutMs)
    const done = (end) => {
      clearTimeout(timer)
      process.off('SIGINT', stop).off('SIGTERM', stop)
      endGroup()
      resolve(late ? `no end after ${timeoutMs / 1000} s` : end)
    }
    child.once('error', (error) => done(error.message))
    child.once('exit', (code, signal) => done(signal ?? code))
  })
}

function endAll(pid) {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // The group is empty: all of it has ended.
  }
}

/* Processes that a test run left behind, known by a mark in their environment. Only Linux tells; elsewhere none are seen. */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** The variable that every process of a test run inherits. */
export const markName = 'RUN_BY_NPM_TEST'

/**
 * Gives what has the mark five seconds to end, then ends it.
 * @param {string} mark
 * @returns {Promise<string[]>} the command lines of what had to be ended
 */
export async function endLeftovers(mark) {
  for (let round = 0; round < 25 && marked(mark).length > 0; round++) await sleep(200)
  return marked(mark).flatMap((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      process.kill(pid, 'SIGKILL')
      return [`${pid} ${command}`]
    } catch {
      return []
    }
  })
}

function marked(mark) {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && hasMark(pid, mark))
}

function hasMark(pid, mark) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`${markName}=${mark}\0`)
  } catch {
    return false
  }
}

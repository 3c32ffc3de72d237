/* One at a time across processes: a lock file that holds the process id of whoever works, given up by a dead process. */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { SetupError } from './step.mjs'

/**
 * Runs `work` while no other process does. Waits for another one up to 20 minutes and says so once; `who` names it.
 * @param {string} path of the lock file
 * @param {string} who
 * @param {() => Promise<void>} work
 */
export async function exclusively(path, who, work) {
  const until = Date.now() + 20 * 60_000
  for (let told = false; !take(path); told = true) {
    const holder = holderOf(path)
    if (holder !== undefined && !isAlive(holder)) giveUp(path, holder)
    else if (!told) process.stdout.write(`Waiting for ${who} (process ${holder ?? 'unknown'}) …\n`)
    if (Date.now() > until) throw new SetupError(`Waited 20 minutes for ${who}. If there is none, remove ${path}`)
    await sleep(200)
  }
  const release = () => rmSync(path, { force: true })
  process.once('exit', release)
  try {
    await work()
  } finally {
    process.off('exit', release)
    release()
  }
}

/** Written beside it and linked, so that the lock never shows half a process id. */
function take(path) {
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, String(process.pid))
    linkSync(draft, path)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw new SetupError(`The folder cannot be written: ${error.message}`, { cause: error })
  } finally {
    rmSync(draft, { force: true })
  }
}

function holderOf(path) {
  try {
    return Number(readFileSync(path, 'utf8')) || undefined
  } catch {
    return undefined
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Moves the dead process's lock away; a lock that somebody else took in between is put back. */
function giveUp(path, dead) {
  const aside = `${path}.${process.pid}.dead`
  try {
    renameSync(path, aside)
    if (holderOf(aside) !== dead) linkSync(aside, path)
  } catch {
    // Another process was faster: the next round sees what it did.
  } finally {
    rmSync(aside, { force: true })
  }
}

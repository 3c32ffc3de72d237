import { setTimeout as sleep } from 'node:timers/promises'
import { installationLabel, sandboxOf } from './container.ts'
import { type Container, type Engine, ifThere, plainly } from './engine.ts'

/** All of ours, by the names of their sandboxes. */
export async function containersOf(engine: Engine, installation: string): Promise<{ name: string; state: string }[]> {
  const filters = { label: [`${installationLabel}=${installation}`] }
  const found = await plainly(engine.listContainers({ all: true, filters }))
  return found.map(({ Names, State }) => ({ name: sandboxOf(Names), state: State }))
}

const removeMs = 30_000

/** Resolves when it is gone; absent is fine. */
export async function removeContainer(container: Container): Promise<void> {
  const deadline = performance.now() + removeMs
  for (;;) {
    const failed = await container.remove({ force: true, v: true }).then(
      () => undefined,
      (error: { statusCode?: number }) => error,
    )
    if (failed === undefined || failed.statusCode === 404) return
    // 409: somebody else is removing it.
    if (failed.statusCode !== 409 || performance.now() > deadline) await plainly(Promise.reject(failed as Error))
    await sleep(50)
  }
}

const pauseMs = 10_000

interface Pausable {
  pause(): Promise<unknown>
  unpause(): Promise<unknown>
}

/**
 * Stops all that runs in it. Where the first version of control groups freezes, the engine gives up on a container that
 * begins programs faster than they are frozen; one of the next moments is quieter.
 */
export async function pauseContainer(container: Pausable): Promise<void> {
  const deadline = performance.now() + pauseMs
  for (;;) {
    try {
      return void (await ifThere(container.pause()))
    } catch (error) {
      if (!String(error).includes('unable to freeze') || performance.now() > deadline) throw error
      await sleep(50)
      // The engine may take it for paused all the same.
      await container.unpause().catch(() => undefined)
    }
  }
}

const engineBackMs = 1_000

/** Waits for the end of a container, also while its engine is away. Never resolves once `closed` says so. */
export async function endOf(container: Container, closed: () => boolean): Promise<string> {
  for (;;) {
    const end: unknown = await container.wait().catch(() => undefined)
    if (closed()) return new Promise(() => undefined)
    const how = await howEnded(container, end)
    if (how !== undefined) return how
    await sleep(engineBackMs, undefined, { ref: false })
  }
}

/** For people; undefined while it runs, or nobody can tell. */
async function howEnded(container: Container, end: unknown): Promise<string | undefined> {
  const seen = await ifThere(container.inspect()).catch(() => null)
  if (seen === null || seen?.State.Running) return undefined
  const code = (end as { StatusCode?: number } | undefined)?.StatusCode ?? seen?.State.ExitCode
  return seen?.State.OOMKilled ? 'out of memory' : `the container ended with code ${code ?? 'unknown'}`
}

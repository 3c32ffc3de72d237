import { broken, fine, tryCanary } from '../canary.ts'
import type { Driver, Finding } from '../driver.ts'
import { type Engine, type EngineFacts, engineFacts } from './engine.ts'

/** Asks the engine, then starts a canary and proves on it what sandboxes are promised to be. */
export async function doctor(
  driver: Driver,
  engine: Engine,
  { image, log }: { image: string; log: (line: string) => void },
  signal: AbortSignal,
): Promise<Finding[]> {
  const facts = await engineFacts(engine).catch((error: Error) => error)
  if (facts instanceof Error)
    return [
      broken('container engine', facts.message, 'start it, or say with DOCKER_HOST=unix:///path where it listens'),
    ]
  const about = [
    {
      ...fine('container engine'),
      detail: `version ${facts.version}${facts.remapped ? ', with users of its own' : ''}`,
    },
    ...limitFindings(facts),
  ]
  const found = await tryCanary(driver, image, signal, { progress: log })
  if (!(found instanceof Error)) return [...about, ...found]
  const fix = found.message.startsWith('image ')
    ? `pull or build it (docker pull ${image}), or name another one with PARLEY_SANDBOX_IMAGE`
    : null
  return [...about, broken('a sandbox starts', found.message, fix)]
}

const limitFindings = ({ unlimited }: EngineFacts): Finding[] =>
  ['memory', 'processes', 'cpu'].map((name) => {
    const ok = !unlimited.includes(name)
    return {
      check: `limit of ${name}`,
      ok,
      fatal: false,
      detail: ok ? 'held by the engine' : 'the engine cannot hold it',
      fix: ok ? null : 'give the engine the control groups of the system (delegation, where it is rootless)',
    }
  })

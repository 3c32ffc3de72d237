import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Finding } from '@parley/sandbox/driver'
import { processDriver } from '@parley/sandbox/process/driver'
import type { Config } from '../config.ts'

const longestMs = 60_000

/** `parley doctor`: whether this machine can hold sandboxes, and what to do where it cannot. Exit code 1 when it cannot. */
export async function doctor(config: Config): Promise<number> {
  const findings = await examine(config)
  for (const finding of findings) process.stdout.write(`${line(finding)}\n`)
  return findings.some((finding) => !finding.ok && finding.fatal) ? 1 : 0
}

export async function examine(config: Config): Promise<Finding[]> {
  const dir = mkdtempSync(join(tmpdir(), 'pd-'))
  const gate = { decide: async () => ({ allow: false as const, reason: 'the doctor lets nothing out' }) }
  const dial = () => Promise.reject(new Error('the doctor dials nobody'))
  const driver = processDriver({
    stateDir: join(dir, 'sandboxes'),
    runtimeDir: join(dir, 'run'),
    egress: { gate, dial },
    unisolated: config.unisolated,
    log: () => {},
  })
  try {
    return await driver.doctor(AbortSignal.timeout(longestMs))
  } finally {
    await driver[Symbol.asyncDispose]()
    rmSync(dir, { recursive: true, force: true })
  }
}

export const line = ({ check, ok, fatal, detail, fix }: Finding): string => {
  const mark = ok ? 'ok  ' : fatal ? 'FAIL' : 'warn'
  return `${mark}  ${check}: ${detail}${fix === null || ok ? '' : `\n      ${fix}`}`
}

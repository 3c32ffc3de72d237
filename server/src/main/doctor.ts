import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Finding } from '@parley/sandbox/driver'
import type { Config } from '../config.ts'
import { openDriver } from '../sandboxes/driver.ts'

/** An engine may have to fetch the image of the sandbox first. */
const longestMs = { process: 60_000, docker: 15 * 60_000, kubernetes: 15 * 60_000 }

/** `parley doctor`: whether this machine can hold sandboxes, and what to do where it cannot. Exit code 1 when it cannot. */
export async function doctor(config: Config): Promise<number> {
  const findings = await examine(config, (text) => void process.stdout.write(`${text}\n`))
  for (const finding of findings) process.stdout.write(`${line(finding)}\n`)
  return findings.some((finding) => !finding.ok && finding.fatal) ? 1 : 0
}

/** `tell` hears what takes long. */
export async function examine(config: Config, tell: (line: string) => void): Promise<Finding[]> {
  const dir = mkdtempSync(join(tmpdir(), 'pd-'))
  const gate = { decide: async () => ({ allow: false as const, reason: 'the doctor lets nothing out' }) }
  const dial = () => Promise.reject(new Error('the doctor dials nobody'))
  const place = { stateDir: join(dir, 'sandboxes'), runtimeDir: join(dir, 'run'), egress: { gate, dial }, log: tell }
  const driver = await openDriver(besides(config), place)
  try {
    return await driver.doctor(AbortSignal.timeout(longestMs[config.sandbox]))
  } finally {
    await driver[Symbol.asyncDispose]()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** As for the server, which may run already: its port is its own. */
function besides(config: Config): Config {
  const { kubernetes } = config
  const egressAddress = kubernetes.egressAddress && { ...kubernetes.egressAddress, port: 0 }
  return { ...config, kubernetes: { ...kubernetes, egressAddress } }
}

export const line = ({ check, ok, fatal, detail, fix }: Finding): string => {
  const mark = ok ? 'ok  ' : fatal ? 'FAIL' : 'warn'
  return `${mark}  ${check}: ${detail}${fix === null || ok ? '' : `\n      ${fix}`}`
}

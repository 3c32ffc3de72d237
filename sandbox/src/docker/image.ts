/* Images: fetched when they are not there, and what a sandbox needs to know of one. */
import type { ImageInspectInfo } from 'dockerode'
import { type Engine, EngineError, ifThere, plainly, said, statusOf } from './engine.ts'

export interface ImageFacts {
  id: string
  /** Where it has programs. */
  path: string
}

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Pulls it when this engine does not have it; `progress` is told how far that is. */
export async function findImage(
  engine: Engine,
  name: string,
  signal: AbortSignal,
  progress: (line: string) => void,
): Promise<ImageFacts> {
  const here = await imageHere(engine, name)
  if (here !== undefined) return here
  await pull(engine, name, signal, progress)
  return factsOf(await plainly(engine.getImage(name).inspect()))
}

/** Undefined when this engine does not have it. */
export async function imageHere(engine: Engine, name: string): Promise<ImageFacts | undefined> {
  const seen = await ifThere(engine.getImage(name).inspect())
  return seen && factsOf(seen)
}

function factsOf({ Id: id, Config: config }: ImageInspectInfo): ImageFacts {
  const path = (config.Env ?? []).find((one) => one.startsWith('PATH='))?.slice('PATH='.length)
  return { id, path: path === undefined || path === '' ? defaultPath : path }
}

interface Line {
  id?: string
  error?: string
  progressDetail?: { current?: number; total?: number }
}

async function pull(engine: Engine, name: string, signal: AbortSignal, progress: (line: string) => void) {
  progress(`Pulling the image ${name}`)
  // Without a tag an engine would fetch every one.
  const whole = /[:@][^/]*$/.test(name) ? name : `${name}:latest`
  const failed = (why: string, cause?: unknown) => new EngineError(`image ${name} cannot be had: ${why}`, { cause })
  const stream = await engine.pull(whole, { abortSignal: signal }).catch((error: unknown) => {
    signal.throwIfAborted()
    throw failed(statusOf(error) === 404 ? 'there is no such image' : said(error), error)
  })
  const layers = new Map<string, { current: number; total: number }>()
  let shown = ''
  const onLine = ({ id, progressDetail }: Line) => {
    const { current, total } = progressDetail ?? {}
    if (id === undefined || current === undefined || total === undefined) return
    layers.set(id, { current, total })
    const line = `Pulling the image ${name}: ${megabytes(layers)}`
    if (line !== shown) progress((shown = line))
  }
  await new Promise<void>((resolve, reject) => {
    engine.modem.followProgress(
      stream,
      (error: unknown, lines: Line[] = []) => {
        const wrong = error instanceof Error ? said(error) : lines.find((line) => line.error !== undefined)?.error
        if (signal.aborted) reject(signal.reason as Error)
        else if (wrong !== undefined) reject(failed(wrong, error))
        else resolve()
      },
      onLine,
    )
  })
}

function megabytes(layers: ReadonlyMap<string, { current: number; total: number }>): string {
  const sum = (part: 'current' | 'total') => [...layers.values()].reduce((all, layer) => all + layer[part], 0)
  return `${Math.floor(sum('current') / 1e6)} of ${Math.ceil(sum('total') / 1e6)} MB`
}

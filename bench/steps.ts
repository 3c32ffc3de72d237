import type { LoggedRequest, Script, ScriptedLlm } from '../tests/tools/scripted-llm.ts'
import { finished, type Program, start } from './program.ts'

/** A job of `steps` shell commands, one for each answer of the model. */
export const job = (steps: number): Record<string, unknown> => ({
  toolkit: { shell: [{ name: 'terminal', args: { command: '{{cmd}}' } }] },
  turns: [
    // All wait here for each other with their shells open, so that what is measured is the steps and not the starts.
    { use: [{ tool: 'shell', vars: { cmd: 'echo ready' } }] },
    { hold: 'go', use: [{ tool: 'shell', vars: { cmd: 'echo go' } }] },
    { repeat: steps, use: [{ tool: 'shell', vars: { cmd: 'echo step-{{i}}' } }] },
    { text: 'All done.' },
  ],
})

export interface StepFigures {
  /** Our own time between two answers of the model, milliseconds, in order. */
  gaps: number[]
  seconds: number
  requests: LoggedRequest[]
}

/** Runs the scripted job in so many conversations at once; `also` is what else the model plays. */
export async function runSteps(
  program: Program,
  llm: ScriptedLlm,
  steps: number,
  conversations: number,
  also: Script = {},
): Promise<StepFigures> {
  await llm.setScript({ ...job(steps), ...also })
  await llm.clear()
  const ids = await Promise.all(
    Array.from({ length: conversations }, (_, index) => start(program, `Run the steps. [[conv:c${steps}-${index}]]`)),
  )
  // A held request is logged when it is over; that the one before it is there of all says that theirs is on its way.
  while ((await llm.log()).requests.length < conversations) await new Promise((resolve) => setTimeout(resolve, 50))
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  const released = Date.now()
  const began = performance.now()
  await llm.release('go')
  await Promise.all(ids.map(({ id }) => finished(program, id)))
  const seconds = (performance.now() - began) / 1_000
  const { requests } = await llm.log()
  const gaps = requests.flatMap((one) => (one.recvStart < released ? [] : (one.gapMs ?? [])))
  return { gaps, seconds, requests }
}

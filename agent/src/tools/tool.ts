import type { Observation, Risk, Usage } from '@parley/contract/events'
import type { Hands } from '@parley/sandbox/driver'
import type { z } from 'zod'

/** This very call of a tool. */
export interface CallContext {
  /** Of its action: the same when the call is taken up again. */
  readonly id: string
  /** US dollars that the conversation may still spend; null: no limit. */
  budgetLeft(): number | null
  /** Counts what others spent for this call; stored together with its result. */
  charge(spent: Spent): void
  /** Told to everybody who watches, and kept. */
  notice(code: string, detail: string): void
}

export interface Spent {
  usageId: string
  id: string
  model: string
  usage: Usage
  cost: number | null
}

/** What a tool is given while it works. */
export interface ToolContext {
  hands: Hands
  workingDir: string
  /** Interrupt: the tool must end within 2 s and answer with what it has. */
  signal: AbortSignal
  /** To live viewers, as it comes. */
  onOutput: (text: string) => void
  /** Values of secrets whose names occur in `text` as `$NAME` or `${NAME}`: for the environment of one command. */
  secretsFor: (text: string) => Promise<Record<string, string>>
  /** A tool's own memory between calls, kept for the life of the run; rebuilt from the log after a crash where it matters. */
  memory: Map<string, unknown>
  call: CallContext
}

export interface Tool<Input extends z.ZodType = z.ZodType> {
  /** As the model calls it: snake_case. */
  readonly name: string
  /** Other names it is known by in settings and by models: `TerminalTool`, `execute_bash`. */
  readonly aliases: readonly string[]
  readonly description: string
  readonly input: Input
  /** JSON Schema told to the model in the place of `input`'s, when the tool's own maker wrote one. */
  readonly schema?: Record<string, unknown>
  /** `TerminalAction`, `TerminalObservation`. */
  readonly actionKind: string
  readonly observationKind: string
  readonly readOnly: boolean
  /** What it must have for itself while it runs with these arguments; calls with no key in common run side by side. */
  resources(input: z.infer<Input>): string[]
  /** Never throws for the model's mistakes: an `Observation` with `is_error`. A throw is our defect. */
  run(input: z.infer<Input>, context: ToolContext): Promise<Observation>
  /** Mends arguments that models often get wrong, before they are checked. `calledAs`: the name or alias that was used. */
  repair?(input: Record<string, unknown>, calledAs: string): Record<string, unknown>
  /** Takes up an earlier result of this tool into `memory`, oldest first: how memory survives a crash. */
  recall?(observation: Observation, memory: Map<string, unknown>): void
  /** True: touches nothing but the conversation itself, so nobody need be asked or told why. */
  readonly harmless?: boolean
  /** True: works without a sandbox; none is started for its sake. */
  readonly handless?: boolean
  /** True: a call whose worker died is run again with the same id, and takes up what it had begun. */
  readonly resumes?: boolean
  /** Frees what `memory` holds (shells, jobs). */
  close?(memory: Map<string, unknown>): Promise<void>
  risk?(input: z.infer<Input>): Risk
}

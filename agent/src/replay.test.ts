import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogEvent } from '@parley/contract/events'
import { systemClock as clock } from '@parley/store/clock'
import { confirmationEvent } from './loop/confirm.ts'
import { run } from './loop/loop.ts'
import type { RunOptions } from './loop/work.ts'
import { ModelError } from './model/model.ts'
import { replay } from './testing-replay.ts'
import {
  actTool,
  calls,
  finished,
  memoryLog,
  type MemoryLog,
  says,
  type ScriptedTurn,
  scriptedModel,
  testRun,
  userMessage,
} from './testing.ts'
import { finish } from './tools/finish.ts'
import { think } from './tools/think.ts'

/** Plays turns, with `between` before each further run, and gives the log as it was recorded. */
async function recording(
  turns: ScriptedTurn[],
  {
    act = async (name: string) => `did ${name}`,
    between = [],
    ...more
  }: {
    act?: (name: string, log: MemoryLog) => Promise<string>
    between?: ((log: MemoryLog) => void)[]
  } & Partial<Pick<RunOptions, 'condenser'>> & { policy?: object } = {},
): Promise<LogEvent[]> {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const model = scriptedModel(turns, { clock })
  const tools = [actTool((name) => act(name, log)), think, finish]
  const options = testRun({ log, model, tools, ...more })
  await run(options)
  for (const step of between) {
    step(log)
    await run({ ...options })
  }
  return structuredClone(log.stored)
}

async function assertSame(recorded: LogEvent[]): Promise<void> {
  const tools = [actTool(() => Promise.reject(new Error('nothing is run')))]
  const { difference, compared } = await replay(recorded, { tools })
  assert.equal(difference, null, JSON.stringify(difference))
  assert.ok(compared > 2)
}

const thinks: ScriptedTurn = [
  { type: 'reasoning', text: 'Hm.' },
  { type: 'reasoning-end', signature: 'signed' },
  ...calls(['act', { name: 'a' }], ['act', { name: 'b' }]),
]

test('answers, results, thoughts and mistakes of a recording lead to the same log', async () => {
  const recorded = await recording([
    thinks,
    calls(['act', '{"name": "half'], ['nothing', {}], ['act', { wrong: 1 }]),
    [finished('stop')],
    [finished('refusal')],
    [{ type: 'text', text: 'Cut' }, finished('length')],
    calls(['finish', { message: 'Done.' }]),
  ])
  await assertSame(recorded)
})

test('a message that came while the model answered, while a tool ran, or after the end comes there again', async () => {
  let log: MemoryLog | undefined
  const recorded = await recording(
    [
      calls(['act', { name: 'a' }]),
      () => {
        log?.arrive(userMessage('While you spoke.'))
        return says('An answer.')
      },
      says('Another.'),
      says('A third.'),
    ],
    {
      act: async (name, mine) => {
        log = mine
        mine.arrive(userMessage('While you worked.'))
        return name
      },
      between: [(mine) => mine.arrive(userMessage('Afterwards.'))],
    },
  )
  await assertSame(recorded)
})

test('confirmations, a tool that failed, an interrupt and an error of the provider come again', async () => {
  const accepted = (log: MemoryLog) =>
    log.arrive(confirmationEvent({ decision: 'accept', action_ids: null, reason: null }))
  const confirmed = await recording([calls(['act', { name: 'a' }]), says('Done.')], {
    policy: { confirmation: () => 'ask' },
    between: [accepted],
  })
  await assertSame(confirmed)
  const broken = await recording([calls(['act', { name: 'a' }]), says('Well.')], {
    act: () => Promise.reject(new Error('broken')),
  })
  await assertSame(broken)
  const interrupted = await recording([calls(['act', { name: 'a' }], ['act', { name: 'b' }]), says('Again.')], {
    act: (_name, log) => {
      log.arrive({ kind: 'InterruptEvent', source: 'user' })
      return new Promise(() => {})
    },
    between: [(log) => log.arrive(userMessage('Go on.'))],
  })
  await assertSame(interrupted)
  const refused = await recording([[new ModelError('auth', 'no')], says('Now.')], {
    between: [(log) => log.arrive(userMessage('Try again.'))],
  })
  await assertSame(refused)
})

test('a repetition is nudged and stopped again', async () => {
  const same = Array.from({ length: 8 }, () => calls(['act', { name: 'a' }]))
  await assertSame(await recording(same))
})

test('a log that the loop would not write is told with its place', async () => {
  const recorded = await recording([calls(['act', { name: 'a' }]), says('Done.')])
  const twice = recorded.flatMap((event): LogEvent[] => (event.kind === 'ObservationEvent' ? [event, event] : [event]))
  const { difference } = await replay(twice)
  assert.equal((difference?.was as { kind: string } | undefined)?.kind, 'ObservationEvent')
})

import { z } from 'zod'
import { LlmConfig } from './llm-config.ts'
import { WebAddress } from './text.ts'

/* An agent as data: its model, tools, context, condenser and critic. Unknown members are left out, not refused. */

export const ToolConfig = z
  .object({ name: z.string().min(1).max(255), params: z.record(z.string(), z.unknown()).default({}) })
  .meta({ id: 'ToolConfig' })
export type ToolConfig = z.infer<typeof ToolConfig>

/** A skill that comes with the agent. `trigger`: words that bring it into the conversation; none: always. */
export const SkillConfig = z
  .looseObject({
    name: z.string().min(1).max(255),
    content: z.string().max(1_000_000).default(''),
    type: z.string().max(64).nullable().default(null),
    trigger: z
      .union([z.array(z.string().max(1000)).max(1000), z.looseObject({ type: z.string() })])
      .nullable()
      .default(null),
  })
  .meta({ id: 'SkillConfig' })
export type SkillConfig = z.infer<typeof SkillConfig>

const words = z.string().max(1_000_000).nullable().default(null)

/** `user_message_suffix` is another word for `user_message_prefix`; both are taken. */
export const AgentContext = z
  .object({
    skills: z.array(SkillConfig).max(1000).default([]),
    system_message_suffix: words,
    user_message_prefix: words,
    user_message_suffix: words,
  })
  .meta({ id: 'AgentContext' })
export type AgentContext = z.infer<typeof AgentContext>

/** Sizes count events of the view: it is condensed above `max_size`, and the first `keep_first` always stay. */
export const LlmSummarizingCondenser = z
  .object({
    kind: z.literal('LLMSummarizingCondenser'),
    keep_first: z.int().min(0).default(2),
    max_size: z.int().min(1).default(240),
    llm: LlmConfig.nullable().default(null),
  })
  .meta({ id: 'LLMSummarizingCondenser' })

export const NoOpCondenser = z.object({ kind: z.literal('NoOpCondenser') }).meta({ id: 'NoOpCondenser' })

export const Condenser = z.discriminatedUnion('kind', [LlmSummarizingCondenser, NoOpCondenser])
export type Condenser = z.infer<typeof Condenser>

/** Sends the agent back to work while the score is below `success_threshold`, at most so often in one turn of the user. */
export const IterativeRefinement = z
  .object({
    success_threshold: z.number().min(0).max(1).default(0.6),
    max_iterations: z.int().min(1).max(10).default(3),
  })
  .meta({ id: 'IterativeRefinement' })

const judging = {
  mode: z.enum(['finish_and_message', 'all_actions']).optional().meta({
    description: '`all_actions`: it also judges after each answer that acts. Absent: only when the agent is done.',
  }),
  iterative_refinement: IterativeRefinement.nullable().optional(),
}
const critic = <K extends string>(kind: K) => z.looseObject({ kind: z.literal(kind), ...judging }).meta({ id: kind })

/** Judges by the exit code of a command that runs in the working directory; `timeout` is in seconds. */
export const CommandCritic = z
  .object({
    kind: z.literal('CommandCritic'),
    command: z.string().min(1).max(10_000),
    timeout: z.number().positive().max(3600).default(600),
    ...judging,
  })
  .meta({ id: 'CommandCritic' })

/**
 * A classifier outside. It is sent the conversation as chat messages and answers with a probability for each of its labels;
 * one from `issue_threshold` on is named to the agent. `timeout` is in seconds.
 */
export const ApiBasedCritic = z
  .object({
    kind: z.literal('APIBasedCritic'),
    api_url: WebAddress,
    api_key: z.string().max(4096).nullable().optional(),
    model: z.string().max(255).nullable().optional(),
    issue_threshold: z.number().min(0).max(1).default(0.75),
    timeout: z.number().positive().max(600).default(60),
    ...judging,
  })
  .meta({ id: 'APIBasedCritic' })

/** Who judges whether the work is done. */
export const Critic = z.discriminatedUnion('kind', [
  critic('AgentFinishedCritic'),
  critic('EmptyPatchCritic'),
  critic('PassCritic'),
  CommandCritic,
  ApiBasedCritic,
])
export type Critic = z.infer<typeof Critic>

/** As reported from outside: what Parley would need to run it may be missing. */
export const ReportedCritic = z.discriminatedUnion('kind', [
  critic('AgentFinishedCritic'),
  critic('EmptyPatchCritic'),
  critic('PassCritic'),
  CommandCritic,
  critic('APIBasedCritic').meta({ id: 'ReportedAPIBasedCritic' }),
])

const fileName = z.string().max(1024).nullable().default(null)

export const AgentConfig = z
  .object({
    kind: z.string().max(255).default('Agent'),
    llm: LlmConfig,
    tools: z.array(ToolConfig).max(500).default([]),
    mcp_config: z.record(z.string(), z.unknown()).default({}),
    filter_tools_regex: z.string().max(4096).nullable().default(null),
    include_default_tools: z.array(z.string().max(255)).max(500).default(['FinishTool', 'ThinkTool']),
    agent_context: AgentContext.nullable().default(null),
    system_prompt_filename: fileName,
    security_policy_filename: fileName,
    system_prompt_kwargs: z.record(z.string(), z.unknown()).default({}),
    condenser: Condenser.nullable().default(null),
    critic: ReportedCritic.nullable().default(null),
    tool_concurrency_limit: z.int().min(1).default(1),
  })
  .meta({ id: 'AgentConfig' })
export type AgentConfig = z.infer<typeof AgentConfig>

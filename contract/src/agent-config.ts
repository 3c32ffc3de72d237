import { z } from 'zod'
import { described, kindOf } from './described.ts'
import { LlmConfig } from './llm-config.ts'
import { WebAddress } from './text.ts'

/* An agent as data: its model, tools, context, condenser and critic. Unknown members are left out, not refused. */

export const ToolConfig = z
  .object(
    described(
      { name: z.string().min(1).max(255), params: z.record(z.string(), z.unknown()).default({}) },
      {
        name: 'Of the tool, by any name it is known by: `terminal`, `TerminalTool`, `execute_bash`.',
        params: 'Kept for clients that set them; no tool here takes any.',
      },
    ),
  )
  .meta({ id: 'ToolConfig' })
export type ToolConfig = z.infer<typeof ToolConfig>

/** A skill that comes with the agent. `trigger`: words that bring it into the conversation; none: always. */
export const SkillConfig = z
  .looseObject(
    described(
      {
        name: z.string().min(1).max(255),
        content: z.string().max(1_000_000).default(''),
        type: z.string().max(64).nullable().default(null),
        trigger: z
          .union([
            z.array(z.string().max(1000)).max(1000),
            z.looseObject({ type: z.string().meta({ description: '`keyword`, `task` or `path`.' }) }),
          ])
          .nullable()
          .default(null),
      },
      {
        name: 'Two skills of one name are one: the nearer to the repository holds.',
        content: 'What the agent is told, as Markdown.',
        type: '`agentskills`: listed by name and read when it is wanted. Anything else says nothing.',
        trigger:
          'Words that bring it up, or an object with `type` (`keyword`, `task` or `path`) and a list of words or patterns; null: it always holds.',
      },
    ),
  )
  .meta({ id: 'SkillConfig' })
export type SkillConfig = z.infer<typeof SkillConfig>

const words = z.string().max(1_000_000).nullable().default(null)

/** `user_message_suffix` is another word for `user_message_prefix`; both are taken. */
export const AgentContext = z
  .object(
    described(
      {
        skills: z.array(SkillConfig).max(1000).default([]),
        system_message_suffix: words,
        user_message_prefix: words,
        user_message_suffix: words,
      },
      {
        skills: 'Skills of your own for every conversation, told as your words.',
        system_message_suffix: 'Goes behind the system prompt.',
        user_message_prefix: 'Told with each message of yours.',
        user_message_suffix: 'The same as `user_message_prefix`; both are taken.',
      },
    ),
  )
  .meta({ id: 'AgentContext' })
export type AgentContext = z.infer<typeof AgentContext>

/** Sizes count events of the view: it is condensed above `max_size`, and the first `keep_first` always stay. */
export const LlmSummarizingCondenser = z
  .object(
    described(
      {
        kind: kindOf('LLMSummarizingCondenser'),
        keep_first: z.int().min(0).default(2),
        max_size: z.int().min(1).default(240),
        llm: LlmConfig.nullable().default(null),
      },
      {
        keep_first: 'How many of the first events always stay word for word.',
        max_size:
          'Events in what the model is shown above which notes replace the older ones; the flat setting `condenser_max_size` goes before it.',
        llm: 'Another model for the notes; null: the model of the conversation.',
      },
    ),
  )
  .meta({ id: 'LLMSummarizingCondenser' })

export const NoOpCondenser = z.object({ kind: kindOf('NoOpCondenser') }).meta({ id: 'NoOpCondenser' })

export const Condenser = z.discriminatedUnion('kind', [LlmSummarizingCondenser, NoOpCondenser])
export type Condenser = z.infer<typeof Condenser>

/** Sends the agent back to work while the score is below `success_threshold`, at most so often in one turn of the user. */
export const IterativeRefinement = z
  .object(
    described(
      {
        success_threshold: z.number().min(0).max(1).default(0.6),
        max_iterations: z.int().min(1).max(10).default(3),
      },
      {
        success_threshold: 'A score below this, from 0 to 1, sends the agent back to work.',
        max_iterations: 'How often it is sent back at most for one message of the user.',
      },
    ),
  )
  .meta({ id: 'IterativeRefinement' })

const judging = described(
  {
    mode: z.enum(['finish_and_message', 'all_actions']).optional().meta({
      description: '`all_actions`: it also judges after each answer that acts. Absent: only when the agent is done.',
    }),
    iterative_refinement: IterativeRefinement.nullable().optional(),
  },
  {
    iterative_refinement: 'When and how often the agent is sent back to work; null or absent: the critic only judges.',
  },
)
const critic = <K extends string>(kind: K) => z.looseObject({ kind: kindOf(kind), ...judging }).meta({ id: kind })

/** Judges by the exit code of a command that runs in the working directory; `timeout` is in seconds. */
export const CommandCritic = z
  .object(
    described(
      {
        kind: kindOf('CommandCritic'),
        command: z.string().min(1).max(10_000),
        timeout: z.number().positive().max(3600).default(600),
        ...judging,
      },
      {
        command: 'Runs in the working directory; exit code 0 is a yes.',
        timeout: 'Seconds after which it is ended, which is a no.',
      },
    ),
  )
  .meta({ id: 'CommandCritic' })

/**
 * A classifier outside. It is sent the conversation as chat messages and answers with a probability for each of its labels;
 * one from `issue_threshold` on is named to the agent. `timeout` is in seconds.
 */
export const ApiBasedCritic = z
  .object(
    described(
      {
        kind: kindOf('APIBasedCritic'),
        api_url: WebAddress,
        api_key: z.string().max(4096).nullable().optional(),
        model: z.string().max(255).nullable().optional(),
        issue_threshold: z.number().min(0).max(1).default(0.75),
        timeout: z.number().positive().max(600).default(60),
        ...judging,
      },
      {
        api_url: 'Is sent the conversation as chat messages by POST.',
        api_key: 'Sent as `Authorization: Bearer`; answered as asterisks.',
        model: 'Handed on to the service; null: it has a usual one.',
        issue_threshold: 'A label of at least this probability, from 0 to 1, is named to the agent as what is wrong.',
        timeout: 'Seconds to wait for its answer.',
      },
    ),
  )
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
  .object(
    described(
      {
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
      },
      {
        kind: 'The family of the agent. Not kept.',
        llm: 'Its model; the name is kept and shown, the rest is not.',
        tools: 'Not kept.',
        mcp_config: 'Not kept.',
        filter_tools_regex: 'Not kept.',
        include_default_tools: 'Not kept.',
        agent_context: 'Not kept.',
        system_prompt_filename: 'Not kept.',
        security_policy_filename: 'Not kept.',
        system_prompt_kwargs: 'Not kept.',
        condenser: 'Not kept.',
        critic: 'Not kept.',
        tool_concurrency_limit: 'Not kept.',
      },
    ),
  )
  .meta({ id: 'AgentConfig' })
export type AgentConfig = z.infer<typeof AgentConfig>

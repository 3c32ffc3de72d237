/** What sub-agents there are, and the tools each may use of those its parent has; null: all. */
export const agentKinds = {
  general: null,
  explorer: ['glob', 'grep', 'file_viewer', 'web_search', 'web_fetch'],
} as const satisfies Record<string, readonly string[] | null>

export type AgentKind = keyof typeof agentKinds

/** Levels of sub-agents below the agent that the user talks to. */
export const mostDepth = 2

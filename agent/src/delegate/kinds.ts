/** What sub-agents there are, and the tools each may use of those its parent has; null: all. */
export const agentKinds: Readonly<Record<string, readonly string[] | null>> & { explorer: readonly string[] } = {
  general: null,
  explorer: ['glob', 'grep', 'file_viewer', 'web_search', 'web_fetch'],
}

/** Levels of sub-agents below the agent that the user talks to. */
export const mostDepth = 2

/** What a conversation shows beside the chat. */
export const tabs = ['changes', 'files', 'plan', 'terminal', 'app', 'events'] as const
export type Tab = (typeof tabs)[number]

/** Names by which the parts of this slice find each other: jobs by their kind, sleepers by their topic. */

export const startJob = 'start-conversation'
export const runJob = 'run-conversation'

/** Told at each status of a start. */
export const startTopic = (task: string): string => `start:${task}`
/** Told after each commit to the log: for viewers. */
export const eventsTopic = (conversation: string): string => `events:${conversation}`
/** Told when somebody other than the run has appended: for the run. */
export const inboxTopic = (conversation: string): string => `inbox:${conversation}`

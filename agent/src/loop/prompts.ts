import type { Content } from '@parley/contract/events'
import { blockedMessagesKey, checkedMessagesKey, hookNote, stateUpdate } from './events.ts'
import { step } from './step.ts'
import type { Work } from './work.ts'

/**
 * Shows new messages of the user to the hooks before the model sees them. What a hook refuses is left out of the history; what
 * it adds stands after the message. Each message is shown once, also after a crash.
 */
export async function submitPrompts(work: Work): Promise<void> {
  const { journal, hooks } = work
  if (!hooks?.has('user_prompt_submit')) return
  for (const prompt of journal.state.prompts.filter(({ checked }) => !checked)) {
    const { event } = prompt
    const facts = { message: textOf(event.llm_message.content), messageId: event.id }
    const { blocked, context } = await step(work, (signal) => hooks.fire('user_prompt_submit', facts, signal))
    if (blocked !== null) journal.write(stateUpdate(blockedMessagesKey, { [event.id]: blocked }))
    else journal.write(stateUpdate(checkedMessagesKey, [event.id]), ...(context.length > 0 ? [hookNote(context)] : []))
  }
}

const textOf = (content: readonly Content[]): string =>
  content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')

import { z } from 'zod'
import { failed, observed } from './observation.ts'
import type { Tool } from './tool.ts'

const task = z.object({
  title: z.string(),
  notes: z.string().optional(),
  status: z.enum(['todo', 'in_progress', 'done']).optional(),
})
const input = z.object({
  command: z.enum(['view', 'plan']).optional().describe('plan replaces the list; view shows it.'),
  task_list: z.array(task).max(200).optional(),
})
interface Task {
  title: string
  notes: string
  status: keyof typeof marks
}

const marks = { todo: '[ ]', in_progress: '[~]', done: '[x]' }

/** The list lives in the log: each observation carries the whole of it. */
export const taskTracker: Tool<typeof input> = {
  name: 'task_tracker',
  aliases: ['TaskTrackerTool'],
  description: 'Keeps the list of tasks of this work.',
  input,
  actionKind: 'TaskTrackerAction',
  observationKind: 'TaskTrackerObservation',
  readOnly: true,
  harmless: true,
  handless: true,
  resources: () => ['task-list'],
  repair: (given) => (given['command'] === undefined && given['task_list'] ? { ...given, command: 'plan' } : given),
  run({ command = 'view', task_list }, { memory }) {
    if (command === 'plan') {
      if (task_list === undefined) {
        return Promise.resolve(failed('TaskTrackerObservation', 'plan needs task_list.', { command, task_list: [] }))
      }
      memory.set(
        'tasks',
        task_list.map(({ title, notes = '', status = 'todo' }) => ({ title, notes, status })),
      )
    }
    const tasks = (memory.get('tasks') ?? []) as Task[]
    return Promise.resolve(observed('TaskTrackerObservation', described(tasks), { command, task_list: tasks }))
  },
  recall(observation, memory) {
    if (!observation.is_error && Array.isArray(observation['task_list'])) memory.set('tasks', observation['task_list'])
  },
}

const described = (tasks: Task[]): string =>
  tasks.length === 0
    ? 'The list is empty.'
    : tasks
        .map(({ title, notes, status }) => `${marks[status]} ${title}${notes === '' ? '' : ` (${notes})`}`)
        .join('\n')

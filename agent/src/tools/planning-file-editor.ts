import { posix } from 'node:path'
import { fileEditor } from './file-editor.ts'
import { fileObservation } from './file-view.ts'
import { failed } from './observation.ts'
import type { Tool } from './tool.ts'

/** Where a planning agent writes its plan, in the working directory; some hosts refuse folders that begin with a dot. */
export const planFile = (provider: string | null): string =>
  provider === 'forge_b' || provider === 'devops_suite' ? 'agents-tmp-config/PLAN.md' : '.agents_tmp/PLAN.md'

const headings = ['Objective', 'Context Summary', 'Approach Overview', 'Implementation Steps', 'Testing and Validation']
const template = `# Plan\n\n${headings.map((heading) => `## ${heading}\n`).join('\n')}`

/** The file editor of an agent that may only plan: it views everything and changes one file. */
export function planningFileEditor(plan: string): Tool<typeof fileEditor.input> {
  return {
    ...fileEditor,
    name: 'planning_file_editor',
    aliases: ['PlanningFileEditorTool', ...fileEditor.aliases],
    description: `Views files, directories and images; edits ${plan} and nothing else.`,
    actionKind: 'PlanningFileEditorAction',
    observationKind: 'PlanningFileEditorObservation',
    async run(call, context) {
      const path = posix.resolve(context.workingDir, call.path)
      const own = posix.resolve(context.workingDir, plan)
      const named = { kind: 'PlanningFileEditorObservation' }
      if (call.command !== 'view' && path !== own) {
        const text = `A planning agent changes ${plan} only. Write what is to be done there.`
        return { ...failed(fileObservation, text, { command: call.command, path }), ...named }
      }
      const { files } = context.hands
      if (path === own && call.command !== 'create' && (await files.stat(own)) === null)
        await files.write(own, Buffer.from(template))
      return { ...(await fileEditor.run(call, context)), ...named }
    },
  }
}

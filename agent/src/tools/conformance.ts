import assert from 'node:assert/strict'
import type { Tool, ToolContext } from './tool.ts'
import { toolset } from './toolset.ts'

/** What every tool of the family must keep. `mistakes`: arguments that fit the schema and that it cannot do. */
export async function assertTool(tool: Tool, context: ToolContext, mistakes: Record<string, unknown>[]): Promise<void> {
  assert.match(tool.name, /^[a-z][a-z0-9_]*$/, 'a model calls it by a snake_case name')
  assert.match(tool.actionKind, /^[A-Z]\w*Action$/)
  assert.equal(tool.observationKind, tool.actionKind.replace(/Action$/, 'Observation'))
  assert.equal(new Set([tool.name, ...tool.aliases]).size, tool.aliases.length + 1, 'a name is there once')

  const [definition] = toolset([tool], { askRisk: false }).definitions
  assert.ok(
    definition !== undefined && JSON.stringify(definition).length <= 1_000,
    'its definition is at most 1,000 characters',
  )
  assert.equal(definition.schema['type'], 'object')

  for (const mistake of mistakes) {
    const input = tool.input.parse(mistake)
    const keys = tool.resources(input)
    assert.deepEqual(tool.resources(input), keys, 'resources depend on the arguments only')
    const observation = await tool.run(input, context)
    assert.equal(observation.kind, tool.observationKind)
    assert.ok(
      observation.is_error && observation.content.length > 0,
      `says what is wrong with ${JSON.stringify(mistake)}`,
    )
  }
}

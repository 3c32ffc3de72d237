import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pauseContainer } from './containers.ts'

/** An engine that answers so, and takes a container for paused whether it could freeze it or not. */
function refusing(...answers: string[]) {
  const said: string[] = []
  let paused = false
  const failed = (message: string, statusCode: number) => Object.assign(new Error(message), { statusCode })
  return {
    said,
    async pause() {
      said.push('pause')
      if (paused) throw failed('the container is already paused', 409)
      paused = true
      const answer = answers.shift()
      if (answer !== undefined) throw failed(answer, 500)
    },
    async unpause() {
      said.push('unpause')
      paused = false
    },
  }
}

test('a container that could not be frozen for what began in it just then is frozen a moment later', async () => {
  const late = 'OCI runtime pause failed: unable to freeze: unknown'
  const container = refusing(late, late)
  await pauseContainer(container)
  assert.deepEqual(container.said, ['pause', 'unpause', 'pause', 'unpause', 'pause'])
})

test('another refusal of the engine is told at once', async () => {
  const container = refusing('no space left on device')
  await assert.rejects(pauseContainer(container), /the container engine says: no space left/)
  assert.deepEqual(container.said, ['pause'])
})

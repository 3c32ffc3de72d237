import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pauseContainer } from './containers.ts'

const refusing = (...answers: string[]) => {
  let asked = 0
  const pause = async () => {
    const answer = answers[asked++]
    if (answer !== undefined) throw Object.assign(new Error(answer), { statusCode: 500 })
  }
  return { pause, asked: () => asked }
}

test('a container that could not be frozen for what began in it just then is frozen a moment later', async () => {
  const late = 'OCI runtime pause failed: unable to freeze: unknown'
  const container = refusing(late, late)
  await pauseContainer(container)
  assert.equal(container.asked(), 3)
})

test('another refusal of the engine is told at once', async () => {
  const container = refusing('no space left on device')
  await assert.rejects(pauseContainer(container), /the container engine says: no space left/)
  assert.equal(container.asked(), 1)
})

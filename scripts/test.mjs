/* `npm test`: makes everything ready, then runs the tests. A set-up that fails counts as a failed test. */
import { join } from 'node:path'
import { launch } from './launch.mjs'
import { root, setUp } from './setup.mjs'
import { SetupError } from './step.mjs'
import { installTestExtras, testPrograms } from './system-packages.mjs'

try {
  const node = await setUp({ programs: testPrograms })
  await installTestExtras()
  launch(node, join(root, 'scripts', 'run-tests.mjs'), process.argv.slice(2))
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  process.stdout.write(`${error.message}\n0 passed, 1 failed\n`)
  process.exitCode = 1
}

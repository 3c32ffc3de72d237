/* `npm run check`: everything that can be said about the code without running it. */
import { runChecks } from './checks.mjs'
import { root, setUpOrExit } from './setup.mjs'

const node = await setUpOrExit({ programs: [] })
const { failed } = await runChecks(node, root)
process.exit(failed === 0 ? 0 : 1)

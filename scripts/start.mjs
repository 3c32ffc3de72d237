/* `npm start`: makes everything ready, then runs the server, and again when it ends badly after it had worked. */
import { join } from 'node:path'
import { launch } from './launch.mjs'
import { root, setUpOrExit } from './setup.mjs'
import { serverNeeds } from './system-packages.mjs'

const node = await setUpOrExit(serverNeeds())
launch(node, join(root, 'server', 'src', 'main.ts'), process.argv.slice(2), 30_000)

/* `npm run bench` and its like: makes everything ready, then runs the program that is named. */
import { join } from 'node:path'
import { launch } from './launch.mjs'
import { root, setUpOrExit } from './setup.mjs'
import { serverNeeds } from './system-packages.mjs'

const [program = '', ...rest] = process.argv.slice(2)
const node = await setUpOrExit(serverNeeds())
launch(node, join(root, ...program.split('/')), rest)

#!/usr/bin/env node
/* The command `parley`: verbs of the server go to the server's program, all others to the client's. */
import { join } from 'node:path'
import { launch } from './launch.mjs'
import { root, setUpOrExit } from './setup.mjs'
import { serverNeeds } from './system-packages.mjs'

const [verb = '', noun = ''] = process.argv.slice(2)
const isServers = ['start', 'config', 'doctor', 'secret-key'].includes(verb) || (verb === 'keys' && noun === 'create')
const program = isServers ? join(root, 'server', 'src', 'main.ts') : join(root, 'client', 'src', 'cli', 'main.ts')

const node = await setUpOrExit(verb === 'start' ? serverNeeds() : { programs: [] })
launch(node, program, process.argv.slice(2))

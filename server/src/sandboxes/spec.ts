/** The one spec of a driver; its id is what the record shows. */
export const builtInSpec = { id: 'parley/workspace', workingDir: '/workspace/project' }

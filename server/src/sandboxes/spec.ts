/** The one spec of a driver; its id is what the record shows. Below `root` conversations have their working directories. */
export const builtInSpec = { id: 'parley/workspace', workingDir: '/workspace/project', root: '/workspace' }

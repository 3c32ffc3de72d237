/* The page's policy forbids making code from text. The schema library tries it once with the first schema that is made, before
   any module of ours can tell it not to; it reads this when it is loaded. A test sees to it that the browser reports nothing. */
globalThis.__zod_globalConfig = { jitless: true }

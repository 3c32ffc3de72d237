import { z } from 'zod'

// The page's policy forbids making code from text; without this the schema library tries it once and the browser reports it.
z.config({ jitless: true })

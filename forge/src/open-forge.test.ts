import { openConformanceWorld } from '../../tests/tools/forge-conformance-world.ts'
import { forgeConformance } from './conformance.ts'
import { openForge } from './open-forge.ts'

forgeConformance('open_forge', () => openConformanceWorld('gitea', openForge, null))

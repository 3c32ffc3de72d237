import { openConformanceWorld } from '../../tests/tools/forge-conformance-world.ts'
import { forgeConformance } from './conformance.ts'
import { forgeA } from './forge-a.ts'

forgeConformance('forge_a', () => openConformanceWorld('github', forgeA, ['41', '42']))

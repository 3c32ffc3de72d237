import { openConformanceWorld } from '../../tests/tools/forge-conformance-world.ts'
import { forgeConformance } from './conformance.ts'
import { forgeB } from './forge-b.ts'

forgeConformance('forge_b', () => openConformanceWorld('gitlab', forgeB, null))

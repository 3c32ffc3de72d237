import { conformance } from '../conformance.ts'
import { openProcess } from './testing.fixture.ts'

conformance('process without walls and control groups', () => openProcess({ unwalled: [], ungrouped: true }))

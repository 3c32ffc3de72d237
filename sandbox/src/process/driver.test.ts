import { conformance } from '../conformance.ts'
import { openProcess } from './testing.fixture.ts'

conformance('process', openProcess)

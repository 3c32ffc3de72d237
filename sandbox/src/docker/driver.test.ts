import { test } from 'node:test'
import { engineLacks } from '../../../tests/tools/docker-engine.ts'
import { conformance } from '../conformance.ts'
import { openDocker } from './testing.fixture.ts'

const lacking = await engineLacks()
if (lacking === undefined) conformance('docker', () => openDocker())
else test('docker: the conformance of a real engine', { skip: lacking }, () => undefined)

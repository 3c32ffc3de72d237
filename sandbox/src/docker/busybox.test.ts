import { after, before, test } from 'node:test'
import { engineLacks } from '../../../tests/tools/docker-engine.ts'
import { busybox } from '../../../tests/tools/image-root.ts'
import { fileConformance } from '../conformance-files.ts'
import { processConformance } from '../conformance-processes.ts'
import { limit, sentenceOf, specOf, type Opened } from '../conformance-sentence.ts'
import { openDocker } from './testing.fixture.ts'

const lacking = (await engineLacks()) ?? ((await busybox()) === undefined ? 'busybox is not installed' : undefined)

if (lacking === undefined) {
  const spec = specOf({ env: { GREETING: "it's" } })
  let opened: Opened
  const hands = () => opened.driver.hands(spec.id)
  before(async () => {
    opened = await openDocker((engine) => engine.busyboxImage ?? '')
    await opened.driver.start(spec, limit())
  })
  after(() => opened?.close())
  const sentence = sentenceOf('an image with nothing but a POSIX shell', () => opened)
  fileConformance(sentence, hands)
  processConformance(sentence, (_, work) => hands().then((one) => work(spec, one)), hands)
} else test('an image with nothing but a POSIX shell', { skip: lacking }, () => undefined)

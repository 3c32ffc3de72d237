import { after, before, test } from 'node:test'
import { testingCluster } from '../../../tests/tools/kubernetes-testing.ts'
import { fileConformance } from '../conformance-files.ts'
import { processConformance } from '../conformance-processes.ts'
import { limit, sentenceOf, specOf, type Opened, type Sentence } from '../conformance-sentence.ts'

const testing = testingCluster()
const image = typeof testing === 'string' ? null : testing.busyboxImage

if (typeof testing !== 'string' && image !== null) {
  const spec = specOf({ env: { GREETING: "it's" } })
  let opened: Opened
  const hands = () => opened.driver.hands(spec.id)
  before(async () => {
    const { openKubernetes } = await import('./testing.fixture.ts')
    opened = await openKubernetes(testing, image)
    await opened.driver.start(spec, limit())
  })
  after(async () => {
    await opened?.driver.remove(spec.id)
    await opened?.close()
  })
  const every = sentenceOf('a pod with nothing but a POSIX shell', () => opened)
  const sentence: Sentence = (text, work) =>
    every(text, async (opened) => (text.startsWith('a byte stream') ? 'what listens in it is socat' : work(opened)))
  fileConformance(sentence, hands)
  processConformance(sentence, (_, work) => hands().then((one) => work(spec, one)), hands)
} else {
  const skip = typeof testing === 'string' ? testing : 'busybox is not installed'
  test('a pod with nothing but a POSIX shell', { skip }, () => undefined)
}

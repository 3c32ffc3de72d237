/* A reporter of Node's test runner that writes how many tests passed, failed and were skipped, as JSON, at the end. */

// oxlint-disable-next-line import/no-default-export -- Node's test runner takes a reporter as the default export
export default async function* counts(events) {
  const sum = { passed: 0, failed: 0, skipped: 0 }
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue
    if (data.details?.type === 'suite') continue
    if (type === 'test:fail') sum.failed++
    else if (data.skip !== undefined || data.todo !== undefined) sum.skipped++
    else sum.passed++
  }
  yield JSON.stringify(sum)
}

/* Loaded before each test file: one that does not end, because something it opened stays open, fails with its name. */
import { isMainThread } from 'node:worker_threads'

const ms = Number(process.env.TEST_FILE_MS)

if (isMainThread && process.env.NODE_TEST_CONTEXT !== undefined && ms > 0)
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ')
    process.stderr.write(`${process.argv[1]}: no end after ${ms / 1000} s; still open: ${open}\n`)
    process.exit(1)
  }, ms).unref()

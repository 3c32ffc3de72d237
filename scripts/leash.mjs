/* Loaded before a program that `launch.mjs` runs: asks it to stop when its launcher is gone, even by kill -9. */
import { isMainThread } from 'node:worker_threads'

if (isMainThread) {
  const launcher = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === launcher) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 500)
  watch.unref()
}

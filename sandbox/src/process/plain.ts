/*
 * A sandbox without walls, where none can be had: plain processes of this user. They share its files, its network and its
 * processes; what is theirs is a folder with a workspace, a home and a place for temporary files, a port that leads to the way
 * out, and a mark in their environment, by which all of them are found.
 * The first of them waits for the end of this program, however it comes, and then ends all the others.
 */
import { join } from 'node:path'
import type { Layout } from '../driver.ts'
import { baseEnv } from '../inside.ts'
import { joining, waitForOrders } from './enter.ts'
import { cleanEnv } from './fork-server.ts'
import { openLoopback } from './loopback.ts'
import { sandboxGroup, sandboxMark } from './plain-group.ts'
import { type Opening, type RunningSandbox, shellLimits, withDeadline } from './sandbox.ts'
import { spawner } from './spawner.ts'

/** Where the workspace of this folder is for the programs in it. */
export const plainWorkspace = (folder: string): string => join(folder, 'workspace')

const keeper = `trap '' INT TERM HUP
echo up
read -r _
tries=0
while [ $tries -lt 100 ]; do
  tries=$((tries + 1)) found=
  for e in $(grep -lsa "${sandboxMark}=$1" /proc/[0-9]*/environ); do
    p=\${e#/proc/} p=\${p%/environ}
    [ "$p" = $$ ] || ! kill -KILL "$p" 2>/dev/null || found=1
  done
  [ -n "$found" ] || exit 0
done`

/**
 * The child itself stays outside, in a shell that says nothing, as those do that enter walls: it takes note of the end of the
 * one that becomes the program.
 */
const entering = `exec 3>&2 2>/dev/null; /bin/sh -c "$1" 2>&3 3>&-; exit $?`

export async function openPlain({
  meta,
  folder,
  runtime,
  forks,
  signal,
  ...opening
}: Opening): Promise<RunningSandbox> {
  const { spec } = meta
  const group = opening.group ?? sandboxGroup(spec.id)
  const mark = { [sandboxMark]: spec.id }
  const loopback = await openLoopback(join(runtime, 'egress.sock'))
  const layout: Layout = {
    workspace: plainWorkspace(folder),
    home: join(folder, 'home'),
    tmp: join(folder, 'tmp'),
    runtime,
    proxyPort: loopback.port,
  }
  const start = (joins: readonly string[], script: string, args: string[], env: Record<string, string>) =>
    forks.start({
      program: '/bin/sh',
      args: ['-c', `${joining(joins)}${script}`, 'sh', ...args],
      env: { ...cleanEnv, ...mark, ...env },
    })
  const first = start(group.joins, keeper, [spec.id], {})
  let running = true
  let said = ''
  const up = new Promise<void>((resolve) => first.stdout.once('data', () => resolve()))
  first.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2000)))
  const ended = first.ended.then(({ code, signal: by, error }) => {
    running = false
    return said.trim() || (error ?? `ended with ${by ?? `code ${code}`}`)
  })
  const hand = spawner({
    group,
    enter: ({ joins, mark: its }) => start(joins, entering, [waitForOrders], its),
    limits: shellLimits(meta, opening.group === undefined ? ['memory'] : []),
    env: { ...baseEnv(undefined, layout), ...mark, GIT_CONFIG_SYSTEM: join(folder, 'etc', 'gitconfig') },
    cwd: layout.workspace,
    tenant: () => spec,
    running: () => running,
  })
  const close = async () => {
    hand.close()
    running = false
    await first.started
    await group.kill()
    await ended
    await loopback.close()
  }
  try {
    await withDeadline(signal, ended, () => up)
    hand.fill()
  } catch (error) {
    await close()
    throw error
  }
  const { spawn, endAll } = hand
  const belong = () => {
    throw new Error('a sandbox without walls is somebody’s from its beginning')
  }
  return { layout, group, running: () => running, ended, close, belong, spawn, endAll }
}

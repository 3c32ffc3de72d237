/*
 * What every kind of sandbox can do. A driver holds no rows: the caller remembers which sandboxes it wants, a driver says
 * what is there and makes it so. Every verb is idempotent by id and safe to run twice; ids are UUIDs and name the
 * processes, folders, containers or pods, so that a crash can never leave one that nobody recognises.
 */

export interface Limits {
  /** Bytes of memory, number of processes, share of a core (1 = one core), bytes of disk. */
  memory: number
  processes: number
  cpu: number
  disk: number
}

export interface SandboxSpec {
  id: string
  /** Image reference; the process driver ignores it. */
  image: string | null
  /** Variables of every process in the sandbox. Never a secret: they are seen by everything in it. */
  env: Record<string, string>
  limits: Limits
  /** Git's `url.<to>.insteadOf <from>` in the read-only system configuration: how a forge is reached through the proxy. */
  gitRewrites?: { from: string; to: string }[]
  /** Author of commits unless the repository or the home folder says otherwise. */
  gitIdentity?: { name: string; email: string }
}

/** Where things are for the programs in a sandbox. */
export interface Layout {
  workspace: string
  home: string
  tmp: string
  /** Folder of what the way out needs, read-only. */
  runtime: string
  /** The way out listens there on 127.0.0.1. */
  proxyPort: number
}

export type SeenState = 'starting' | 'running' | 'paused' | 'stopped' | 'error' | 'missing'

export interface Seen {
  id: string
  state: SeenState
  /** Why, for people: `killed: out of memory`, `image not found: …`. Null when there is nothing to say. */
  detail: string | null
}

export interface Driver {
  readonly kind: 'process' | 'docker' | 'kubernetes'
  /** What everybody who works in its sandboxes should know; null when there is nothing. */
  readonly warning: string | null
  /** Where its workspace lies for the programs in a sandbox of this id. */
  workspaceOf(id: string): string
  /** Proves that this machine can isolate; the reason when it cannot. Runs once at boot, and when somebody asks. */
  doctor(signal: AbortSignal): Promise<Finding[]>
  /** Makes it or, when its files are there but nothing runs (a restart of the machine), runs it again. Resolves when usable. */
  start(spec: SandboxSpec, signal: AbortSignal, progress?: (line: string) => void): Promise<void>
  look(id: string): Promise<Seen>
  /** Everything of ours that exists, wanted or not: for the clean-up of orphans. */
  list(): Promise<Seen[]>
  /** Nothing runs while paused; files stay. Resolves when it is so. */
  pause(id: string): Promise<void>
  resume(spec: SandboxSpec, signal: AbortSignal): Promise<void>
  /** Processes and files gone. */
  remove(id: string): Promise<void>
  /** Rejects with `SandboxGone` when it is not running. */
  hands(id: string): Promise<Hands>
  /** Called with the id and the reason when a running sandbox ends by itself. */
  onEnd(listener: (seen: Seen) => void): void
  /** Lets go of everything at the end of the program. */
  [Symbol.asyncDispose](): Promise<void>
}

export interface Finding {
  check: string
  ok: boolean
  /** Fatal findings stop the start; others are warnings. */
  fatal: boolean
  detail: string
  /** The command or setting that mends it. */
  fix: string | null
}

/** What the brain uses to act in one sandbox. Paths are absolute paths inside. */
export interface Hands {
  readonly layout: Layout
  /** One process with streams. Killing it kills everything it started. */
  spawn(command: Command): Process
  /** Runs a short command on a shell that is kept open, and gives its whole output. No terminal, no input but `stdin`. */
  run(command: RunCommand): Promise<RunResult>
  readonly files: Files
  /** A persistent shell. Its working directory and variables stay from command to command. */
  shell(options: ShellOptions): Promise<Shell>
  readonly jobs: Jobs
  /** A byte stream to a port that something inside listens on (127.0.0.1). */
  connect(port: number): Promise<import('node:stream').Duplex>
}

export interface Command {
  argv: [string, ...string[]]
  cwd?: string
  env?: Record<string, string>
  /** A pseudo-terminal of this size; stdout carries both streams then. */
  terminal?: { columns: number; rows: number }
  signal?: AbortSignal
}

export interface Process {
  readonly stdin: import('node:stream').Writable
  readonly stdout: import('node:stream').Readable
  readonly stderr: import('node:stream').Readable
  /**
   * Resolves when all of it has ended; never rejects. `code` null: killed by `signal`. `reason`, for people: the limit of
   * the sandbox that it was ended for.
   */
  readonly ended: Promise<{ code: number | null; signal: string | null; reason?: string }>
  /** TERM, then KILL after `graceMs`, to it and all it started. */
  kill(graceMs?: number): Promise<void>
  /** A signal to everything it started, but not to itself: how a command in a shell is interrupted. */
  interruptChildren(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): Promise<void>
  resize(columns: number, rows: number): void
}

export interface RunCommand {
  /** A shell script in POSIX sh. Values go in through `env` or `args` ($1, $2 …), never spliced into the text. */
  script: string
  args?: string[]
  env?: Record<string, string>
  cwd?: string
  stdin?: Uint8Array
  timeoutMs?: number
  /** Output beyond it is dropped and `truncated` set. 8 MiB unless said. */
  maxBytes?: number
  signal?: AbortSignal
}

export interface RunResult {
  code: number
  stdout: Buffer
  stderr: string
  truncated: boolean
  timedOut: boolean
}

export interface Files {
  /** `from` and `length` in bytes. Rejects with `FileError`. */
  read(path: string, range?: { from: number; length: number }): Promise<Buffer>
  /** Whole or not at all: a temporary file beside it, then a rename. Parents are made. Keeps the mode of an old file. */
  write(path: string, data: Uint8Array, options?: { mode?: number }): Promise<void>
  /** Adds at the end; the file and its parents are made when absent. */
  append(path: string, data: Uint8Array): Promise<void>
  list(path: string): Promise<FileEntry[]>
  /** Null when nothing is there. Does not follow a last symlink. */
  stat(path: string): Promise<FileEntry | null>
  /** With everything below it. Absent is fine. */
  remove(path: string): Promise<void>
}

export interface FileEntry {
  name: string
  path: string
  type: 'file' | 'directory' | 'symlink' | 'other'
  size: number
  /** Milliseconds since the epoch. */
  modified: number
  mode: number
}

/** A file operation that could not be done. `code` as in Node: ENOENT, EACCES, EISDIR, ENOTDIR, ENOSPC, EINVAL. */
export class FileError extends Error {
  override name = 'FileError'
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** The sandbox is not running, or ended while it was asked. */
export class SandboxGone extends Error {
  override name = 'SandboxGone'
}

/** Commands in the background. They outlive shells and workers, and end with the sandbox. */
export interface Jobs {
  /** Resolves with its number when it has begun. */
  start(job: JobCommand): Promise<string>
  /** The oldest first. */
  list(): Promise<Job[]>
  /** Null: there is no such job. */
  read(id: string, options: ReadJob): Promise<JobOutput | null>
  /** To its standard input. False: it does not run. */
  write(id: string, text: string): Promise<boolean>
  /** INT, after 1.5 s TERM, after 1.5 s more KILL, to it and all it started. False: there is no such job. */
  stop(id: string): Promise<boolean>
}

export interface JobCommand {
  /** For bash where there is one, else sh. */
  command: string
  cwd: string
  env?: Record<string, string>
  /** Path of a script of `export` commands to run first; it is removed. */
  variables?: string
}

export interface Job {
  id: string
  command: string
  running: boolean
  /** Null while it runs, and when nobody was there to see its end. */
  code: number | null
  /** Bytes of output so far. */
  size: number
}

export interface ReadJob {
  /** Byte of the output to begin with; the last `maxBytes` unless said. */
  from?: number
  maxBytes: number
  /** How long to wait for something beyond `from`. */
  waitMs?: number
  signal?: AbortSignal
}

export interface JobOutput extends Omit<Job, 'id' | 'command'> {
  bytes: Buffer
  from: number
}

export interface ShellOptions {
  cwd: string
  env?: Record<string, string>
}

export interface ShellCommand {
  command: string
  /** Variables for this command only. */
  env?: Record<string, string>
  /** Called with each piece of output as it comes, stdout and stderr together. */
  onOutput?: (chunk: string) => void
  /** Hard limit: the command is interrupted, then killed. Null: none. */
  timeoutMs?: number | null
  /** Returns `running` when nothing was printed for so long; the command goes on. Null: never. */
  quietMs?: number | null
  /** Returns `running` after so long, whatever is printed; the command goes on. Null: never. */
  waitMs?: number | null
  /** Interrupts the command: INT, after 2 s TERM, after 2 s more KILL. The shell stays. */
  signal?: AbortSignal
}

export interface ShellResult {
  /** `exited`: the command ended. `running`: it goes on. `timed_out`, `interrupted`: it was ended by us. `died`: the shell itself ended (`exit`, `kill`); a new one is open. */
  end: 'exited' | 'running' | 'timed_out' | 'interrupted' | 'died'
  /** Null unless `exited`. */
  exitCode: number | null
  /** What was printed during this call: the first and the last part when it is large. */
  output: string
  /** Characters printed in all by this call. */
  outputLength: number
  /** Where the whole output of this shell is inside the sandbox once it is more than 16 KiB, and which bytes of it are this call's. */
  log: { path: string; from: number; to: number }
  cwd: string
}

export interface Shell {
  /** One at a time: rejects with `ShellBusy` while a command runs. */
  run(command: ShellCommand): Promise<ShellResult>
  /**
   * Waits for more of the running command (as `run` would). One that has ended since a result said that it runs is told once,
   * with its exit code and what it printed in between.
   */
  wait(options: Omit<ShellCommand, 'command' | 'env'>): Promise<ShellResult>
  /** To the running command's standard input. */
  input(text: string): Promise<void>
  readonly busy: boolean
  /** There is something to `wait` for: a command runs, or how it ended has not been told. */
  readonly awaited: boolean
  close(): Promise<void>
}

export class ShellBusy extends Error {
  override name = 'ShellBusy'
}

/*
 * The walls of a container, as the engine's options: this list is the product. Its rules:
 *   - no network: the way out is the socket of our proxy, in a folder of this sandbox alone, and nothing else of the host
 *     is mounted but its own folders and our read-only tools; never the engine's socket;
 *   - an unprivileged user of its own, no capability, no way to gain one, the engine's system call filter;
 *   - the image's files are read-only; what a tenant writes lies in its folders, where it is counted and outlives the container.
 */
import { join } from 'node:path'
import type { ContainerCreateOptions } from 'dockerode'
import type { SandboxSpec } from '../driver.ts'
import { baseEnv, initScript, inside } from '../inside.ts'
import { toolFolder } from './tools.ts'

export interface Walls {
  /** Of the container, and of the sandbox as long as it is nobody's. */
  name: string
  spec: Pick<SandboxSpec, 'limits'>
  /** Id of the image, and where it has programs. */
  image: { id: string; path: string }
  /** User and group inside. */
  uid: number
  /** Whom the sandbox belongs to: the name of this installation. */
  installation: string
  /** Paths on the host: the sandbox's folder, the folder of its sockets, our tools. */
  folder: string
  runtime: string
  tools: string
}

/** What the engine hides of /proc by itself, all of /sys, and what an image left in the home of root. */
const masked = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys',
  '/root',
]

/** Says whom a container belongs to. */
export const installationLabel = 'parley.installation'

const prefix = 'parley-'
export const containerName = (sandbox: string): string => `${prefix}${sandbox}`
/** @param names As the engine lists them: with a slash before them. */
export const sandboxOf = (names: readonly string[]): string => (names[0] ?? '').slice(1 + prefix.length)

export function containerOptions({ name, spec, image, uid, installation, folder, runtime, tools }: Walls) {
  const { limits } = spec
  const path = `${image.path}:${toolFolder}/bin`
  const env = baseEnv(path)
  const at = (part: string) => join(folder, part)
  return {
    name: containerName(name),
    Image: image.id,
    Hostname: 'sandbox',
    User: `${uid}:${uid}`,
    WorkingDir: '/',
    Entrypoint: ['/bin/sh', '-c', initScript(':')],
    Cmd: [],
    Env: Object.entries(env).map(([key, value]) => `${key}=${value}`),
    Labels: { [installationLabel]: installation },
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      MaskedPaths: masked,
      // Homes of the image's users are nobody's here.
      Tmpfs: { '/home': 'rw,nosuid,nodev,size=64k,mode=755' },
      Memory: limits.memory,
      MemorySwap: limits.memory,
      PidsLimit: limits.processes,
      NanoCpus: Math.max(10_000_000, Math.round(limits.cpu * 1e9)),
      Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }],
      LogConfig: { Type: 'none', Config: {} },
      RestartPolicy: { Name: 'no' },
      Binds: [
        `${runtime}:${inside.runtime}:ro`,
        `${tools}:${toolFolder}:ro`,
        ...['passwd', 'group', 'gitconfig'].map((file) => `${at(`etc/${file}`)}:/etc/${file}:ro`),
        `${at('tmp')}:/tmp`,
        `${at('tmp')}:/var/tmp`,
        `${at('home')}:${inside.home}`,
        `${at('workspace')}:${inside.workspace}`,
      ],
    },
  } satisfies ContainerCreateOptions
}

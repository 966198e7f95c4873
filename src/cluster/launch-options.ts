import { randomBytes } from 'node:crypto'
import { accessSync, constants, statSync } from 'node:fs'
import { resolve } from 'node:path'
import process from 'node:process'
import type { Writable } from 'node:stream'
import { ArgumentError } from '../native/index.ts'
import type { HostSlots } from './hosts/host-slots.ts'
import { checkSpaceName } from './space-name.ts'

/** What happens to the other ranks if one fails: they are stopped, or continue. */
export type FailurePolicy = 'stop' | 'continue'

/** The most ranks that one launcher starts. */
const RANKS_MAX = 256
/** Milliseconds that ranks have to end on request, before SIGKILL. */
const GRACE_MS = 5000

/** Never asks for a password, and notices within 15 seconds that a host is gone. */
const SSH: readonly string[] = [
  'ssh',
  '-o',
  'BatchMode=yes',
  '-o',
  'ServerAliveInterval=5',
  '-o',
  'ServerAliveCountMax=3',
]

export interface LaunchOptions {
  /** The program that every rank runs. */
  readonly script: string
  readonly args?: readonly string[]
  /** The number of ranks, 1 to 256. */
  readonly ranks: number
  /**
   * The hosts that run them, by ssh, in blocks of ranks; default: all on this machine. The script and this package must
   * be at the same paths there.
   */
  readonly hosts?: readonly HostSlots[]
  /**
   * With `hosts`: the command that reaches a host. The host's name and a command line for its shell are appended.
   * Default {@link SSH}.
   */
  readonly ssh?: readonly string[]
  /** With `hosts`: the path of node there. Default: the path of this process's own. */
  readonly remoteNode?: string
  /**
   * With `hosts`: the address of this machine, where the ranks meet. Default: the one that ssh came from, as each host
   * sees it.
   */
  readonly address?: string
  /** With `hosts`: the TCP port where the ranks meet. Default 0, a free one. */
  readonly port?: number
  /**
   * Without `hosts`: the name of the space in which the ranks meet, and by which others can observe it. Default: a
   * random one.
   */
  readonly space?: string
  /** Default `'stop'`. */
  readonly onFailure?: FailurePolicy
  /** Milliseconds between asking ranks to end and SIGKILL. Default 5000. */
  readonly graceMs?: number
  /** Arguments for node itself, before the script: `['--max-old-space-size=4096']`. */
  readonly nodeArguments?: readonly string[]
  /** Environment variables in addition to those of this process. */
  readonly environment?: Readonly<Record<string, string>>
  /** Where the ranks' lines go. Default: the process's own. */
  readonly stdout?: Writable
  readonly stderr?: Writable
  /** Stops all ranks like a SIGTERM to the launcher. */
  readonly signal?: AbortSignal
}

/** {@link LaunchOptions} with all defaults filled in. */
export interface LaunchPlan extends Required<Omit<LaunchOptions, 'signal' | 'stdout' | 'stderr' | 'address'>> {
  readonly address: string | undefined
  readonly stdout: Writable
  readonly stderr: Writable
  readonly signal: AbortSignal | undefined
}

/** @throws ArgumentError before anything is started. */
export function checkLaunch(options: LaunchOptions, stdout: Writable, stderr: Writable): LaunchPlan {
  return {
    script: checkScript(options.script),
    args: options.args ?? [],
    ranks: checkWhole(options.ranks, 'ranks', 1, RANKS_MAX),
    hosts: options.hosts ?? [],
    ssh: options.ssh ?? SSH,
    remoteNode: options.remoteNode ?? process.execPath,
    address: options.address,
    space: checkSpaceName(options.space ?? `run-${randomBytes(8).toString('hex')}`),
    port: checkWhole(options.port ?? 0, 'port', 0, 65_535),
    onFailure: checkPolicy(options.onFailure ?? 'stop'),
    graceMs: checkWhole(options.graceMs ?? GRACE_MS, 'graceMs', 0, 2 ** 31 - 1),
    nodeArguments: options.nodeArguments ?? [],
    environment: options.environment ?? {},
    stdout: options.stdout ?? stdout,
    stderr: options.stderr ?? stderr,
    signal: options.signal,
  }
}

function checkScript(script: string): string {
  const path = resolve(script)
  const status = statSync(path, { throwIfNoEntry: false })
  if (status === undefined) throw new ArgumentError('script', `there is no script ${path}`)
  if (!status.isFile()) throw new ArgumentError('script', `${path} is not a file; name the script itself`)
  try {
    accessSync(path, constants.R_OK)
  } catch (cause) {
    throw new ArgumentError('script', `the script ${path} cannot be read (${(cause as Error).message})`, { cause })
  }
  return path
}

function checkWhole(value: unknown, argument: string, least: number, most: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
  throw new ArgumentError(argument, `${argument} must be a whole number from ${least} to ${most}, not ${String(value)}`)
}

function checkPolicy(policy: unknown): FailurePolicy {
  if (policy === 'stop' || policy === 'continue') return policy
  throw new ArgumentError('onFailure', `onFailure must be 'stop' or 'continue', not '${String(policy)}'`)
}

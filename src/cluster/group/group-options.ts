import process from 'node:process'
import {
  ArgumentError,
  checkMilliseconds,
  checkOptions,
  checkSignal,
  checkText,
  mustBe,
  type OptionNames,
  shown,
  TIMER_MS_MAX,
} from '../../native/index.ts'
import { isLoopback, SECRET_FILE_VARIABLE } from '../../runtime/index.ts'
import { checkSpaceName } from '../space-name.ts'
import { JoinError } from './errors.ts'
import { GROUP_SIZE_MAX } from './group-card.ts'
import { parseSeeds, type Seed } from './growth/seeds.ts'
import { portOf, rankSettings, rendezvousSetting, type Setting } from './rank-environment.ts'
import { parseRendezvous, type RendezvousPlace } from './rendezvous-place.ts'

/** The variable that names the verbs device. */
export const DEVICE_VARIABLE = 'AETHER_DEVICE'

/** The variable that sets the lease, in milliseconds: a rank that is silent for longer is out of the group. */
const LEASE_VARIABLE = 'AETHER_LEASE_MS'
/** Long enough for a healthy rank on an overloaded machine. */
const LEASE_MS = 10_000
const LEASE_MS_MIN = 500

/** The variable that sets how long an agent looks for work before it sleeps, in milliseconds. */
const SPIN_VARIABLE = 'AETHER_SPIN_MS'
const SPIN_MS_MAX = 1000

/** Options of `join()`. Defaults come from the environment that `aether-dsm run`, srun or mpirun sets. */
export interface JoinOptions {
  /** This process's rank, 0 to `size` - 1. Default `AETHER_RANK`, or the variable of Open MPI, PMI or Slurm. */
  readonly rank?: number
  /** The number of ranks. Default `AETHER_SIZE`, or the variable of Open MPI, PMI or Slurm. */
  readonly size?: number
  /**
   * Where the ranks meet: `local:NAME`, a space on this machine, or `tcp:HOST:PORT`, where rank 0 listens. Default
   * `AETHER_RENDEZVOUS`.
   */
  readonly rendezvous?: string
  /**
   * File with the secret that ranks show each other over TCP: mode 0600, at least 32 bytes. Default
   * `AETHER_SECRET_FILE`.
   */
  readonly secretFile?: string
  /**
   * The verbs device. Default `AETHER_DEVICE`, else `shm0` if all ranks are on one machine, else the first active RDMA
   * device, else `tcp0`. In a group that grows: `shm0` if all seeds are of the loopback interface, else `tcp0`.
   */
  readonly device?: string
  /**
   * A rank that is silent for this long, in milliseconds, is out of the group. At least 500. Default `AETHER_LEASE_MS`,
   * else 10,000.
   */
  readonly leaseMs?: number
  /**
   * How long the agent of this rank looks for work before it sleeps, in milliseconds, 0 to 1000. Default
   * `AETHER_SPIN_MS`, else 0.02 if each rank of this machine has two processors, and 0 otherwise, as in a
   * group that grows.
   */
  readonly spinMs?: number
  /** How long to wait for the others, in milliseconds. Default 60,000. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /**
   * The name of a group that grows: it is made by its first member, and processes join and leave it one by one. Not
   * together with `rank`, `size` and `rendezvous`.
   */
  readonly name?: string
  /**
   * Addresses at which members of a group that grows are met, like `a:7471`; the same at all. The first member makes
   * the group at the first of them. Members may be on several machines if one of these is not of the loopback
   * interface; that takes a secret. Default one address of the loopback interface, derived from `name`.
   */
  readonly seeds?: readonly string[]
  /**
   * What a member of a group that grows does without a quorum. By default it ends its process: `end`. With `wait` it
   * waits until the deaths of the others are certain, and ends only if they have gone on without it.
   */
  readonly onQuorumLost?: 'end' | 'wait'
}

const names: OptionNames<JoinOptions> = {
  rank: true,
  size: true,
  rendezvous: true,
  secretFile: true,
  device: true,
  leaseMs: true,
  spinMs: true,
  timeoutMs: true,
  signal: true,
  name: true,
  seeds: true,
  onQuorumLost: true,
}

interface CommonPlan {
  readonly secretFile: string | undefined
  /** Undefined: to be chosen. */
  readonly device: string | undefined
  readonly leaseMs: number
  /** Undefined: as processors allow. */
  readonly spinMs: number | undefined
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

export interface JoinPlan extends CommonPlan {
  readonly rank: number
  readonly size: number
  readonly place: RendezvousPlace
}

/** How to join a group that grows. */
export interface GrowthPlan extends CommonPlan {
  readonly name: string
  readonly device: string
  readonly seeds: readonly Seed[]
  readonly onQuorumLost: 'end' | 'wait'
}

const NO_RENDEZVOUS =
  "join() needs a rendezvous: start this program with 'aether-dsm run -n N', or give { rendezvous: 'local:NAME' }; for several machines " +
  "'tcp:HOST:PORT' of rank 0, or AETHER_RENDEZVOUS (mpirun -x AETHER_RENDEZVOUS=tcp:HOST:PORT …)"

/** @throws ArgumentError unless the options are an object that has no other names. */
export function checkJoinNames(options: JoinOptions): void {
  checkOptions('join', options, names)
}

/** @throws JoinError if a value is neither given nor in the environment; ArgumentError if one is invalid. */
export function planJoin(options: JoinOptions): JoinPlan {
  const lonely = (['seeds', 'onQuorumLost'] as const).find((each) => options[each] !== undefined)
  if (lonely !== undefined) throw new ArgumentError(lonely, `${lonely} is for a group that grows: pass its name, too`)
  const found = rankSettings()
  const size = numberFrom(options.size, found.size, 'size')
  const rank = numberFrom(options.rank, found.rank, 'rank')
  if (size < 1 || size > GROUP_SIZE_MAX)
    throw mustBe('size', `a whole number of ranks from 1 to ${GROUP_SIZE_MAX}`, size)
  if (rank >= size) throw mustBe('rank', `from 0 to ${size - 1}, one of ${size} ranks`, rank)
  const { rendezvous = rendezvousSetting() } = options
  const common = planCommon(options)
  if (rendezvous === undefined) throw new JoinError(NO_RENDEZVOUS)
  return { rank, size, place: parseRendezvous(rendezvous), ...common }
}

/** Plan to join the group that grows of that name. @throws ArgumentError. */
export function planGrowth(name: string, options: JoinOptions): GrowthPlan {
  checkSpaceName(name)
  const other = (['rank', 'size', 'rendezvous'] as const).find((each) => options[each] !== undefined)
  if (other !== undefined)
    throw new ArgumentError(other, `${other} is for a group of a fixed size: leave it out, or leave out name`)
  const { seeds = [`127.0.0.1:${portOf(name)}`], onQuorumLost = 'end' } = options
  if (onQuorumLost !== 'end' && onQuorumLost !== 'wait') throw mustBe('onQuorumLost', "'end' or 'wait'", onQuorumLost)
  const common = planCommon(options)
  const places = parseSeeds(seeds)
  const device = common.device ?? (places.every(({ host }) => isLoopback(host)) ? 'shm0' : 'tcp0')
  return { name, onQuorumLost, ...common, seeds: places, device }
}

function planCommon(options: JoinOptions): CommonPlan {
  const { timeoutMs = 60_000, signal, secretFile, device } = options
  checkMilliseconds('timeoutMs', timeoutMs)
  checkSignal('signal', signal)
  if (secretFile !== undefined) checkText('secretFile', secretFile)
  if (device !== undefined) checkText('device', device)
  return {
    secretFile: secretFile ?? textFrom(SECRET_FILE_VARIABLE),
    device: device ?? textFrom(DEVICE_VARIABLE),
    leaseMs: leaseFrom(options.leaseMs),
    spinMs: spinFrom(options.spinMs),
    // Without end: timers have one.
    timeoutMs: Math.min(timeoutMs, TIMER_MS_MAX),
    signal,
  }
}

function numberFrom(given: number | undefined, found: Setting | undefined, argument: string): number {
  if (given === undefined && found === undefined) {
    throw new JoinError(
      `join() needs ${argument}: start this program with 'aether-dsm run -n N', or give { rank, size, rendezvous }`,
    )
  }
  const value = given ?? Number(found?.text)
  if (Number.isInteger(value) && value >= 0) return value
  const what = given === undefined ? found?.variable : argument
  throw new ArgumentError(argument, `${what} must be a whole number from 0 on, not ${shown(given ?? found?.text)}`)
}

function leaseFrom(given: number | undefined): number {
  const text = textFrom(LEASE_VARIABLE)
  const leaseMs = given ?? (text === undefined ? LEASE_MS : Number(text))
  if (typeof leaseMs === 'number' && leaseMs >= LEASE_MS_MIN && leaseMs < 2 ** 31) return leaseMs
  const argument = given === undefined ? LEASE_VARIABLE : 'leaseMs'
  throw new ArgumentError('leaseMs', `${argument} must be at least ${LEASE_MS_MIN} ms, not ${shown(given ?? text)}`)
}

function spinFrom(given: number | undefined): number | undefined {
  const text = textFrom(SPIN_VARIABLE)
  const spinMs = given ?? (text === undefined ? undefined : Number(text))
  if (spinMs === undefined) return undefined
  if (typeof spinMs === 'number' && spinMs >= 0 && spinMs <= SPIN_MS_MAX) return spinMs
  const argument = given === undefined ? SPIN_VARIABLE : 'spinMs'
  throw new ArgumentError('spinMs', `${argument} must be from 0 to ${SPIN_MS_MAX} ms, not ${shown(given ?? text)}`)
}

function textFrom(variable: string): string | undefined {
  const text = process.env[variable]
  return text === '' ? undefined : text
}

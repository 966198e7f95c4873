import { availableParallelism } from 'node:os'
import process from 'node:process'
import { ArgumentError } from '../../native/index.ts'
import { JoinError } from './errors.ts'
import { GROUP_SIZE_MAX } from './group-card.ts'

/** Options of `join()`. What is left out comes from the environment that `aether run` sets. */
export interface JoinOptions {
  /** This process's number, 0 to `size` - 1. Default `AETHER_RANK`. */
  readonly rank?: number
  /** How many ranks there are. Default `AETHER_SIZE`. */
  readonly size?: number
  /** Where the ranks meet: `local:NAME`, a space on this machine. Default `AETHER_RENDEZVOUS`. */
  readonly rendezvous?: string
  /** How long to wait for the others, in milliseconds. Default 60,000. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export interface JoinPlan {
  readonly rank: number
  readonly size: number
  /** Name of the space in which the ranks meet. */
  readonly space: string
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** How long the agent turns idly before it sleeps. */
  readonly spinNs: number
}

/** Where every rank has two processors' worth of threads, a short spin saves a system call at both ends; elsewhere it only steals time. */
const SPIN_NS = 20_000

/** @throws JoinError where a value is neither given nor in the environment; ArgumentError where one cannot be right. */
export function planJoin(options: JoinOptions): JoinPlan {
  const size = numberFrom(options.size, 'AETHER_SIZE', 'size')
  const rank = numberFrom(options.rank, 'AETHER_RANK', 'rank')
  if (size < 1 || size > GROUP_SIZE_MAX)
    throw new ArgumentError('size', `a group has 1 to ${GROUP_SIZE_MAX} ranks, not ${size}`)
  if (rank >= size)
    throw new ArgumentError('rank', `rank ${rank} is not one of ${size}: ranks go from 0 to ${size - 1}`)
  const { timeoutMs = 60_000, signal } = options
  if (!(timeoutMs > 0)) throw new ArgumentError('timeoutMs', `timeoutMs must be more than 0, not ${timeoutMs}`)
  const spinNs = 2 * size <= availableParallelism() ? SPIN_NS : 0
  return { rank, size, space: spaceFrom(options.rendezvous), timeoutMs, signal, spinNs }
}

function numberFrom(given: number | undefined, variable: string, argument: string): number {
  const text = process.env[variable]
  if (given === undefined && (text === undefined || text === '')) {
    throw new JoinError(
      `join() needs ${argument}: start this program with 'aether-dsm run -n N', or give { rank, size, rendezvous }`,
    )
  }
  const value = given ?? Number(text)
  if (Number.isInteger(value) && value >= 0) return value
  throw new ArgumentError(
    argument,
    `${given === undefined ? variable : argument} must be a whole number, not ${given ?? JSON.stringify(text)}`,
  )
}

function spaceFrom(given: string | undefined): string {
  const rendezvous = given ?? process.env['AETHER_RENDEZVOUS']
  if (rendezvous === undefined || rendezvous === '') {
    throw new JoinError(
      "join() needs a rendezvous: start this program with 'aether-dsm run -n N', or give { rendezvous: 'local:NAME' }",
    )
  }
  const found = /^local:(.+)$/.exec(rendezvous)
  if (found?.[1] !== undefined) return found[1]
  throw new ArgumentError('rendezvous', `rendezvous must be 'local:NAME', not ${JSON.stringify(rendezvous)}`)
}

import type { RegionGroup } from '../../dsm/index.ts'
import { checkOptions, checkText, checkWhole, type OptionNames } from '../../native/index.ts'
import { type ReplicateOptions, replicate } from '../replicate.ts'
import { Election } from './election.ts'
import { ElectionMachine } from './election-machine.ts'

/** Options of {@link elect}. */
export interface ElectOptions extends Pick<ReplicateOptions<ElectionMachine>, 'replicas' | 'timeoutMs' | 'signal'> {
  /**
   * How long a leader that does not renew stays the leader, in milliseconds. It renews three times as often. Default
   * 10,000.
   */
  readonly ttlMs?: number
}

const names: OptionNames<ElectOptions> = { ttlMs: true, replicas: true, timeoutMs: true, signal: true }

const DEFAULT_TTL_MS = 10_000
/** The shortest and the longest: a renewal takes time, and timers take no more. */
const TTL_MS_LEAST = 10
const TTL_MS_MAX = 2 ** 30

/**
 * Open an election, in which one process of the group leads at a time.
 *
 * ```ts
 * await using election = await elect(group, 'nightly-report')
 * await using term = await election.campaign()
 * await writeReport({ fencingToken: term.token, signal: term.signal })
 * ```
 *
 * Each election is a replicated machine of its own, with a thread in each process. It goes on while a majority of the
 * replicas lives.
 * @throws ConsensusError `ERR_AETHER_CONSENSUS_TIMEOUT` if too few processes open it in time; ArgumentError.
 */
export async function elect(group: RegionGroup, name: string, options: ElectOptions = {}): Promise<Election> {
  checkText('name', name)
  checkOptions('elect', options, names)
  const { ttlMs = DEFAULT_TTL_MS, ...others } = options
  checkWhole('options.ttlMs', ttlMs, TTL_MS_LEAST, TTL_MS_MAX)
  const machine = new ElectionMachine()
  const log = await replicate(group, { ...others, name: `election/${name}`, machine: () => machine })
  return new Election({ group, name, ttlMs, machine, log })
}

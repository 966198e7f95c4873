import { randomInt } from 'node:crypto'
import { ConsensusError } from './errors.ts'
import type { Meeting } from './meeting.ts'
import { type AcceptedEntry, EntryFlag } from './replica/cell.ts'
import { type Configuration, decodeConfiguration, foundingConfiguration } from './replica/configuration.ts'
import type { Recovered } from './replica/journal.ts'
import type { ReplicaGroup } from './replica-group.ts'

const LOG_MAX = 2 ** 48 - 1

/** In a group of a fixed size certain ranks found the log, as all know. Undefined for the others. */
export function foundFixed(founders: readonly number[], id: number): Configuration | undefined {
  const ids = founders.map((rank) => rank + 1)
  return ids.includes(id) ? foundingConfiguration(ids) : undefined
}

/** The configuration of a new log that journals keep: its founder is alone until the others have come. */
export function foundAlone(id: number): Configuration {
  return foundingConfiguration([id], randomInt(1, LOG_MAX))
}

/** The log that a journal is of; 0 if it is new. */
export function logOf({ snapshot, entries, decided }: Recovered): number {
  const isInForce = ({ index, flags }: AcceptedEntry): boolean =>
    index <= decided && (flags & EntryFlag.Configuration) !== 0
  const entry = entries.findLast(isInForce)
  return (entry === undefined ? snapshot?.head.configuration : decodeConfiguration(entry.payload))?.log ?? 0
}

/**
 * Whether this process is to found a log that journals keep. As many as are to vote have come, and no journal holds
 * anything, or is to hold anything. Else there is a log, and a majority of its voters goes on with it.
 */
export function isFounder(group: ReplicaGroup, met: Meeting['met'], founders: readonly number[]): boolean {
  const all = [...met.values()]
  const ranks = all.map(({ rank }) => rank)
  if (all.length < founders.length || all.some(({ log, expectsLog }) => log !== 0 || expectsLog)) return false
  if (group.grows) return Math.min(...ranks) === group.rank
  return Math.min(...founders) === group.rank && founders.every((rank) => ranks.includes(rank))
}

/** What a member that has opened a log knows of it, for all to look up. */
type Known = Pick<Configuration, 'version'> & { readonly voters: readonly number[] }

/** Nothing is posted. */
const NO_VERSION = -1

/** A program may have opened a name several times: how often, by group and name. */
const opened = new WeakMap<ReplicaGroup, Map<string, number>>()

/** Where all members of a group that grows look up who votes. So newcomers find out whether there is a log. */
export class VoterRecord {
  readonly #group: ReplicaGroup
  readonly #topic: string
  readonly #name: string

  constructor(group: ReplicaGroup, name: string) {
    this.#group = group
    this.#name = name
    this.#topic = `consensus/${name}`
    this.#count(1)
  }

  /**
   * The first member that opens a name founds its log, alone. It is of use when as many as are wanted vote.
   * Undefined if there is a log.
   * @throws ConsensusError if there was one, and all voters have ended.
   */
  async found(meeting: Meeting, wanted: number): Promise<Configuration | undefined> {
    using _held = await this.#lock()
    const { version, voters: ids } = await this.#newest()
    const isHere = (rank = -1): boolean => this.#group.isMember(rank)
    if (ids.some((voter) => isHere(meeting.rankOf(voter)))) return undefined
    // A founder that is alone, and is to have others first, has answered no one. One that is left alone has.
    const isWaiting = version === 0 && wanted > 1
    if (ids.length > 0 && !isWaiting) {
      const why = `all voters of '${this.#name}' have ended, and its entries with them; open another name`
      throw new ConsensusError('LOST', why)
    }
    return await this.#found(foundingConfiguration([meeting.id]))
  }

  /** Found a log that journals keep, unless another member has. */
  async foundOnce(id: number): Promise<Configuration | undefined> {
    using _held = await this.#lock()
    return (await this.#newest()).voters.length > 0 ? undefined : await this.#found(foundAlone(id))
  }

  /** Every member that has opened the name does, with each configuration. */
  async write({ version, voters }: Configuration): Promise<void> {
    await this.#group.post(this.#topic, { version, voters: voters.map(({ id }) => id) } satisfies Known)
  }

  async close(): Promise<void> {
    if (this.#count(-1) === 0 && !this.#group.closed) await this.#group.post(this.#topic, null)
  }

  #count(change: number): number {
    const counts = opened.get(this.#group) ?? new Map<string, number>()
    opened.set(this.#group, counts)
    const count = (counts.get(this.#name) ?? 0) + change
    counts.set(this.#name, count)
    return count
  }

  /** A founder may have ended before others came, and another one have founded since: then voters of both are told. */
  async #newest(): Promise<Known> {
    const posted = [...(await this.#group.posted(this.#topic)).values()] as Known[]
    const version = posted.reduce((newest, known) => Math.max(newest, known.version), NO_VERSION)
    const voters = posted.flatMap((known) => (known.version === version ? known.voters : []))
    return { version, voters: [...new Set(voters)] }
  }

  #lock(): Promise<Disposable> {
    return this.#group.lock(this.#topic)
  }

  async #found(configuration: Configuration): Promise<Configuration> {
    await this.write(configuration)
    return configuration
  }
}

import { randomInt } from 'node:crypto'
import type { Region, RegionGroup } from '../dsm/index.ts'
import { ConsensusError } from './errors.ts'
import type { Meeting } from './meeting.ts'
import { type AcceptedEntry, EntryFlag } from './replica/cell.ts'
import { type Configuration, decodeConfiguration, foundingConfiguration } from './replica/configuration.ts'
import type { Recovered } from './replica/journal.ts'

/** Bytes of the region in which a group that grows keeps who votes. */
const RECORD_BYTES = 4096
/** Numbers of that region: the version of the configuration, how many vote, and their ids. 0 voters: not founded. */
const Place = { Version: 0, Voters: 1, Ids: 2 } as const
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
 * anything. Else there is a log, and a majority of its voters goes on with it.
 */
export function isFounder(group: RegionGroup, met: Meeting['met'], founders: readonly number[]): boolean {
  const all = [...met.values()]
  const ranks = all.map(({ rank }) => rank)
  if (all.length < founders.length || all.some(({ log }) => log !== 0)) return false
  if (group.grows) return Math.min(...ranks) === group.rank
  return Math.min(...founders) === group.rank && founders.every((rank) => ranks.includes(rank))
}

/** The voters, where all members of a group that grows see them. So newcomers find out whether there is a log. */
export class VoterRecord implements AsyncDisposable {
  readonly #group: RegionGroup
  readonly #name: string
  readonly #region: Region
  readonly #numbers: Float64Array

  private constructor(group: RegionGroup, name: string, region: Region) {
    this.#group = group
    this.#name = name
    this.#region = region
    this.#numbers = region.float64
  }

  static async open(group: RegionGroup, name: string): Promise<VoterRecord> {
    return new VoterRecord(group, name, await group.openRegion(`consensus/${name}`, { size: RECORD_BYTES }))
  }

  /**
   * The first member that opens a name founds its log, alone. It is of use when as many as are wanted vote.
   * Undefined if there is a log.
   * @throws ConsensusError if there was one, and all voters have ended.
   */
  async found(meeting: Meeting, wanted: number): Promise<Configuration | undefined> {
    using _held = await this.#lock()
    const ids = this.#voters
    const isHere = (rank = -1): boolean => this.#group.isMember(rank)
    if (ids.some((voter) => isHere(meeting.rankOf(voter)))) return undefined
    // A founder that was alone, and was to have others, has answered no one.
    if (ids.length >= Math.min(2, wanted) && ids.length > 0) {
      const why = `all voters of '${this.#name}' have ended, and its entries with them; open another name`
      throw new ConsensusError('LOST', why)
    }
    return this.#found(foundingConfiguration([meeting.id]))
  }

  /** Found a log that journals keep, unless another member has. */
  async foundOnce(id: number): Promise<Configuration | undefined> {
    using _held = await this.#lock()
    return this.#voters.length > 0 ? undefined : this.#found(foundAlone(id))
  }

  /** The leader does. */
  write({ version, voters }: Configuration): void {
    if (version <= this.#numbers[Place.Version]!) return
    for (const [place, { id }] of voters.entries()) this.#numbers[Place.Ids + place] = id
    this.#numbers[Place.Voters] = voters.length
    this.#numbers[Place.Version] = version
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#region.close()
  }

  get #voters(): readonly number[] {
    return [...this.#numbers.subarray(Place.Ids, Place.Ids + this.#numbers[Place.Voters]!)]
  }

  #lock(): Promise<Disposable> {
    return this.#group.lock(`consensus/${this.#name}`)
  }

  #found(configuration: Configuration): Configuration {
    this.#numbers[Place.Version] = -1
    this.write(configuration)
    return configuration
  }
}

import type { Region, RegionGroup } from '../dsm/index.ts'
import { ConsensusError } from './errors.ts'
import { Meeting } from './meeting.ts'
import { type Configuration, foundingConfiguration } from './replica/configuration.ts'

/** Bytes of the region in which a group that grows keeps who votes. */
const RECORD_BYTES = 4096
/** Numbers of that region: the version of the configuration, how many vote, and their ids. 0 voters: not founded. */
const Place = { Version: 0, Voters: 1, Ids: 2 } as const

/** In a group of a fixed size the first ranks found the log, as all know. Undefined for the others. */
export function foundFixed(replicas: number, id: number): Configuration | undefined {
  const founders = Array.from({ length: replicas }, (_, rank) => rank + 1)
  return founders.includes(id) ? foundingConfiguration(founders) : undefined
}

/** The voters, where all members of a group that grows see them. So newcomers find out whether there is a log. */
export class VoterRecord implements AsyncDisposable {
  readonly #region: Region
  readonly #numbers: Float64Array

  private constructor(region: Region) {
    this.#region = region
    this.#numbers = region.float64
  }

  static async open(group: RegionGroup, name: string): Promise<VoterRecord> {
    return new VoterRecord(await group.openRegion(`consensus/${name}`, { size: RECORD_BYTES }))
  }

  /**
   * The first member that opens a name founds its log, alone. It is of use when as many as are wanted vote.
   * Undefined if there is a log.
   * @throws ConsensusError if there was one, and all voters have ended.
   */
  async found(group: RegionGroup, name: string, id: number): Promise<Configuration | undefined> {
    using _held = await group.lock(`consensus/${name}`)
    const count = this.#numbers[Place.Voters]!
    const ids = [...this.#numbers.subarray(Place.Ids, Place.Ids + count)]
    if (ids.some((voter) => group.isMember(Meeting.rankOf(voter)))) return undefined
    // A founder that was alone has answered no one else. So what is lost is lost with all who knew it.
    if (count > 1) {
      const why = `all voters of '${name}' have ended, and its entries with them; open another name`
      throw new ConsensusError('LOST', why)
    }
    const configuration = foundingConfiguration([id])
    this.#numbers[Place.Version] = -1
    this.write(configuration)
    return configuration
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
}

import { HeadWord, type VoterHead } from '../../consensus/index.ts'

/** Of the head of a replica's memory: all words that are looked at. */
export const VOTER_BYTES: number = HeadWord.Id + 8

/**
 * The head of a replica's memory of another machine, as it was READ last. Its words may have been read in any order,
 * and a follower knows less than a leader. So it leads a term only if it did so in an earlier READ. What it knows was
 * then read after it had begun to lead.
 */
export class RemoteVoter implements VoterHead {
  readonly id: number
  counter = 0
  promise = 0
  known = 0
  leads = 0
  version = 0
  #led = 0
  #order = 0

  constructor(id: number) {
    this.id = id
  }

  /**
   * Take what was READ to these bytes, by the READ of that number. It may be the memory of another replica, or an
   * earlier READ than the one that was taken last: that is not taken.
   */
  take(bytes: Uint8Array, offset: number, order: number): 'taken' | 'another' | 'old' {
    const words = new DataView(bytes.buffer, bytes.byteOffset + offset, VOTER_BYTES)
    const wordAt = (place: number): number => Number(words.getBigUint64(place, true))
    if (wordAt(HeadWord.Id) !== this.id) return 'another'
    if (order < this.#order) return 'old'
    this.#order = order
    this.counter = wordAt(HeadWord.Counter)
    this.promise = wordAt(HeadWord.Promise)
    this.known = wordAt(HeadWord.Known)
    this.version = wordAt(HeadWord.Version)
    const leads = wordAt(HeadWord.Leads)
    this.leads = leads === this.#led ? leads : 0
    this.#led = leads
    return 'taken'
  }
}

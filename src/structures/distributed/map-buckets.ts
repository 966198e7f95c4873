import { type BlockName, blockOf, bytesOfClass } from './block-word.ts'
import { ReadCommand } from './command.ts'
import type { HomeWords } from './home-words.ts'
import { BUCKET_BYTES, TABLE_BUCKETS } from './map-body.ts'
import { type MapEntry, readMapEntry } from './map-entry.ts'
import { isSameKey, type KeyBytes } from './map-key.ts'

/** A slot that is not empty. */
export interface FullSlot {
  readonly place: number
  readonly word: bigint
  readonly block: BlockName
}

/** What the two buckets of a key were like. */
export interface Look {
  /** Slots whose fingerprint is that of the key. */
  readonly candidates: readonly FullSlot[]
  /** Empty ones, those of the bucket with more of them first. */
  readonly empty: readonly number[]
  readonly full: readonly FullSlot[]
}

/** A slot with the entry that it named. */
export interface FoundEntry extends FullSlot {
  readonly entry: MapEntry
}

/** The slots of one map at one home. */
export class MapBuckets {
  readonly #home: HomeWords
  readonly #tables: readonly number[]

  constructor(home: HomeWords, tables: readonly number[]) {
    this.#home = home
    this.#tables = tables
  }

  /** READs of the two buckets that a key may be in; for a batch. */
  reads({ first, second }: KeyBytes): readonly [ReadCommand, ReadCommand] {
    const count = this.#tables.length * TABLE_BUCKETS
    const one = first % count
    const other = second % count
    // Two choices are two buckets.
    return [this.#read(one), this.#read(other === one ? (one + 1) % count : other)]
  }

  /** What the READs have found. */
  see({ fingerprint }: KeyBytes, reads: readonly ReadCommand[]): Look {
    const buckets = reads.map((read) => slotsOf(read))
    const full = buckets.flatMap((bucket) => bucket.full)
    const empty = buckets.map((bucket) => bucket.empty).sort((a, b) => b.length - a.length)
    return { candidates: full.filter(({ block }) => block.fingerprint === fingerprint), empty: empty.flat(), full }
  }

  async look(key: KeyBytes): Promise<Look> {
    const reads = this.reads(key)
    await this.#home.run(reads)
    return this.see(key, reads)
  }

  /** The entries that slots named, in one round trip; undefined for each whose slot has changed since. */
  async entries(slots: readonly FullSlot[]): Promise<readonly (FoundEntry | undefined)[]> {
    if (slots.length === 0) return []
    const reads = slots.map(({ block }) => new ReadCommand(block.offset, bytesOfClass(block.sizeClass)))
    await this.#home.run(reads)
    return slots.map((slot, at) => {
      const entry = readMapEntry(slot.block, (reads[at] as ReadCommand).bytes)
      return entry && { ...slot, entry }
    })
  }

  /** Those of `slots` that have the key; undefined where it has to be looked anew, because a slot has changed. */
  async withKey(key: KeyBytes, slots: readonly FullSlot[]): Promise<readonly FoundEntry[] | undefined> {
    const entries = await this.entries(slots)
    if (entries.includes(undefined)) return undefined
    return (entries as readonly FoundEntry[]).filter(({ entry }) => isSameKey(key, entry.keyMeta, entry.key))
  }

  /** READs of all slots, a part at a time. */
  *parts(): Generator<ReadCommand, undefined> {
    for (const table of this.#tables)
      for (let at = 0; at < TABLE_BUCKETS; at += BUCKETS_A_PART)
        yield new ReadCommand(table + at * BUCKET_BYTES, BUCKETS_A_PART * BUCKET_BYTES)
    return undefined
  }

  #read(bucket: number): ReadCommand {
    const table = this.#tables[Math.floor(bucket / TABLE_BUCKETS)] as number
    return new ReadCommand(table + (bucket % TABLE_BUCKETS) * BUCKET_BYTES, BUCKET_BYTES)
  }
}

const BUCKETS_A_PART = 256

/** The slots of what was read. */
export function slotsOf(read: ReadCommand): { readonly full: readonly FullSlot[]; readonly empty: readonly number[] } {
  const view = new DataView(read.bytes.buffer, read.bytes.byteOffset, read.length)
  const full: FullSlot[] = []
  const empty: number[] = []
  for (let at = 0; at < read.length; at += 8) {
    const low = view.getUint32(at, true)
    const high = view.getUint32(at + 4, true)
    const place = read.offset + at
    if (low === 0 && high === 0) empty.push(place)
    else full.push({ place, word: read.word(at), block: blockOf(high, low) })
  }
  return { full, empty }
}

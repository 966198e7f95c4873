import type { BlockPool } from '../heap/block-pool.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { type Command, CompareExchangeCommand, FetchAddCommand, ReadCommand } from '../memory/command.ts'
import { agesPlace, markUsed, usedAt } from './ages.ts'
import type { MapBuckets } from './buckets.ts'
import { countChange, entriesOf, momentOf } from './count.ts'
import { MapSample } from './sample.ts'
import { emptySlot, type FullSlot, liveWord, type Slot } from './slot.ts'

/** Entries that one write takes out at most, where there are too many. */
const VICTIMS_MAX = 8
/** Buckets that are looked at where memory runs out: a map that is far below its bound has few entries in any. */
const SPARSE_BUCKETS = 128
/** Looks for entries to take out, besides the one that costs no round trip, until the next write has to. */
const LOOKS_MAX = 3

/**
 * The bound of a part of a map: how many entries it has, and which are evicted if it has too many.
 *
 * 1. Of about thirty entries drawn at random, the one not used for longest is evicted. As in Redis, sampling replaces a
 *    list of all. The ages lie beside the slots.
 * 2. So a rank that looks for a key sees how old its entry is. It marks it as used by a compare-and-swap that it does
 *    not wait for, once in a moment (count.ts).
 * 3. A rank that puts a new key into a full map reads the sample together with the claim of its slot. It takes the
 *    victim out together with the confirmation, so this costs no extra round trip.
 *
 * The count is changed in the batch of the change that it counts, right after it. A slot's word is never the same
 * twice, so a victim is the entry that was seen, or nothing happens.
 */
export class MapBound {
  readonly max: number
  readonly #memory: HomeMemory
  readonly #pool: BlockPool
  readonly #map: MapBuckets
  readonly #place: number

  constructor(memory: HomeMemory, pool: BlockPool, map: MapBuckets, place: number, max: number) {
    this.#memory = memory
    this.#pool = pool
    this.#map = map
    this.#place = place
    this.max = max
  }

  /** READ of the word that counts, for a look. */
  read(): ReadCommand {
    return new ReadCommand(this.#place, 8)
  }

  /** An entry was read. The caller does not wait for that to be written down. */
  touch(slot: Slot, ages: bigint, count: bigint): void {
    const mark = markUsed(ages, slot.place, momentOf(count, this.max))
    if (mark !== undefined) void this.#memory.run([mark]).catch(() => {})
  }

  /** For a look that found `count`: some entries, one of which is to go; undefined where there is room. */
  sampleFor(count: bigint): MapSample | undefined {
    return entriesOf(count) < this.max ? undefined : this.#sample()
  }

  /** Replace one entry by another. True if it was done. */
  async replace(
    before: readonly Command[],
    swap: CompareExchangeCommand,
    ages: bigint,
    count: bigint,
  ): Promise<boolean> {
    const mark = this.#mark(swap.offset, ages, count)
    await this.#memory.run([...before, swap, mark])
    if (swap.swapped) this.#markAgain(mark, swap.offset, count)
    return swap.swapped
  }

  /** Confirm the claim of a new key, and take out what is too much. True where it was confirmed. */
  async confirm(
    claim: CompareExchangeCommand,
    ages: bigint,
    count: bigint,
    sample: MapSample | undefined,
  ): Promise<boolean> {
    const mark = this.#mark(claim.offset, ages, count)
    const added = this.#changed(1)
    const wanted = Math.min(VICTIMS_MAX, entriesOf(count) + 1 - this.max)
    const victims = sample?.oldest(wanted, momentOf(count, this.max), claim.offset) ?? []
    const gone = await this.#takeOut([claim, mark, added], victims)
    if (!claim.swapped) this.#correct(-1)
    else {
      this.#markAgain(mark, claim.offset, count)
      await this.#keepTo(entriesOf(added.before) + 1 - gone, claim.offset)
    }
    return claim.swapped
  }

  /** Take out these, if they are as they were seen; gives the words that were there. */
  async remove(slots: readonly FullSlot[]): Promise<readonly bigint[]> {
    const swaps = slots.map(swapOut)
    const count = this.#changed(-slots.length)
    await this.#memory.run([...swaps, count])
    this.#settle(slots, swaps)
    return swaps.map(({ before }) => before)
  }

  /** Take out some, because there is no memory. How many went. */
  async evict(wanted: number): Promise<number> {
    const sample = this.#sample(SPARSE_BUCKETS)
    const count = this.read()
    await this.#memory.run([...(sample?.commands ?? []), count])
    if (sample === undefined || sample.isStale) await this.#map.tree.refresh()
    const victims = sample?.oldest(Math.min(wanted, VICTIMS_MAX), momentOf(count.word(), this.max), undefined) ?? []
    return await this.#takeOut([], victims)
  }

  /** Evict until there are at most `entries` entries. */
  async #keepTo(entries: number, but: number): Promise<void> {
    let left = entries
    for (let look = 0; look < LOOKS_MAX && left > this.max; look += 1) {
      const sample = this.#sample()
      const count = this.read()
      await this.#memory.run([...(sample?.commands ?? []), count])
      if (sample === undefined || sample.isStale) await this.#map.tree.refresh()
      left = entriesOf(count.word())
      const wanted = Math.min(VICTIMS_MAX, left - this.max)
      if (wanted <= 0) return
      const victims = sample?.oldest(wanted, momentOf(count.word(), this.max), but) ?? []
      left -= await this.#takeOut([], victims)
    }
  }

  /** How many of `victims` went. */
  async #takeOut(before: readonly Command[], victims: readonly FullSlot[]): Promise<number> {
    const swaps = victims.map(swapOut)
    const count = victims.length === 0 ? [] : [this.#changed(-victims.length)]
    const batch = [...before, ...swaps, ...count]
    if (batch.length > 0) await this.#memory.run(batch)
    return this.#settle(victims, swaps)
  }

  /** Blocks of those that went are free; those that did not go were counted. */
  #settle(slots: readonly FullSlot[], swaps: readonly CompareExchangeCommand[]): number {
    const gone = slots.filter((_, at) => swaps[at]?.swapped === true)
    for (const { block } of gone) this.#pool.release(block)
    if (gone.length < slots.length) this.#correct(slots.length - gone.length)
    return gone.length
  }

  #sample(buckets?: number): MapSample | undefined {
    return MapSample.of(this.#map, () => this.#memory.group.random(), buckets)
  }

  #mark(slot: number, ages: bigint, count: bigint): CompareExchangeCommand {
    const moment = momentOf(count, this.max)
    return new CompareExchangeCommand(agesPlace(slot), ages, usedAt(ages, slot, moment))
  }

  /**
   * A new entry that has no mark has that of the one before it: so it is tried once more where others marked theirs.
   */
  #markAgain(mark: CompareExchangeCommand, slot: number, count: bigint): void {
    if (!mark.swapped) void this.#memory.run([this.#mark(slot, mark.before, count)]).catch(() => {})
  }

  #changed(entries: number): FetchAddCommand {
    return new FetchAddCommand(this.#place, countChange(entries))
  }

  /** What was counted did not happen. */
  #correct(entries: number): void {
    void this.#memory.run([this.#changed(entries)]).catch(() => {})
  }
}

function swapOut(slot: FullSlot): CompareExchangeCommand {
  return new CompareExchangeCommand(slot.place, liveWord(slot), emptySlot(slot.generation))
}

import { StructureError } from '../errors.ts'
import type { BlockPool, OwnBlock } from './block-pool.ts'
import { encodeBlock } from './block-word.ts'
import { CompareExchangeCommand, WriteCommand } from './command.ts'
import type { HomeWords } from './home-words.ts'
import { type FoundEntry, type FullSlot, type Look, MapBuckets, slotsOf } from './map-buckets.ts'
import { ENTRY_BYTES, type MapEntry, writeMapEntry } from './map-entry.ts'
import type { KeyBytes } from './map-key.ts'

/** What to do with a key, once it is known what is there. */
export type MapChange =
  | { readonly kind: 'keep' }
  | { readonly kind: 'remove' }
  | { readonly kind: 'put'; readonly value: Uint8Array; readonly endOfLife: number }

/** From one attempt to the next, in milliseconds: only where others want the same slots. */
const PAUSE_MS_MAX = 8

/**
 * The entries of a map at one home: RACE hashing (Zuo and others, "One-sided RDMA-Conscious Extendible Hashing for Disaggregated Memory", USENIX ATC 2021), with two differences: the table does not grow, and a new key is
 * put in two steps.
 *
 * A slot names a block that does not change while a slot names it. Reading is a READ of both buckets and one of the blocks that they name. Replacing and removing are a compare-and-swap of the slot, in
 * which they take effect; a slot's tag is never the same twice, so nothing was changed in between.
 *
 * A new key could be put into two slots by two ranks at a time. So a rank first *claims* a slot: it puts its block's name there, marked tentative, and looks at both buckets again, after that. Where it finds no other slot with
 * the key it takes the mark away, and there the entry is; before, no reader sees it. Where it finds an entry it withdraws; where it finds another's claim, the one in the lower place
 * stays, and removes the other. Of two who claim, the later one to claim sees the other's claim when it looks again, or what became of it; so never have both the key. A claim that stays though it should go (its rank was stopped) is removed by whoever meets it
 * twice: its rank then finds that it is gone, and begins anew.
 */
export class MapShard {
  readonly home: HomeWords
  readonly buckets: MapBuckets
  readonly #pool: BlockPool

  constructor(home: HomeWords, pool: BlockPool, tables: readonly number[]) {
    this.home = home
    this.#pool = pool
    this.buckets = new MapBuckets(home, tables)
  }

  /** The entry of `key`. One round trip where no fingerprint fits, else two; more only where a slot changed in between. Takes effect in the look at the buckets. */
  async find(key: KeyBytes): Promise<FoundEntry | undefined> {
    for (;;) {
      const look = await this.buckets.look(key)
      const found = await this.buckets.withKey(key, look.candidates.filter(isThere))
      if (found !== undefined) return found[0]
    }
  }

  /**
   * Change what is there. `decide` is called with what was found, and again when it was not so any more. Gives what was there before.
   * Three round trips: both buckets, the candidates' blocks (where there are any), then block and slot; for a new key one more.
   */
  async change(key: KeyBytes, decide: (there: MapEntry | undefined) => MapChange): Promise<MapEntry | undefined> {
    const met = new Set<bigint>()
    for (let attempt = 0; ; attempt += 1) {
      const look = await this.buckets.look(key)
      const found = await this.buckets.withKey(key, look.candidates.filter(isThere))
      if (found !== undefined) {
        const [there] = found
        const change = decide(there?.entry)
        if (await this.#apply(key, look, there, change, met)) return there?.entry
      }
      await this.#pause(attempt)
    }
  }

  /** Every entry that is there, part by part. */
  async *visit(): AsyncGenerator<readonly MapEntry[], undefined> {
    for (const part of this.buckets.parts()) {
      await this.home.run([part])
      const there = slotsOf(part).full.filter(isThere)
      for (let at = 0; at < there.length; at += ENTRIES_AT_ONCE)
        yield (await this.#settled(there.slice(at, at + ENTRIES_AT_ONCE))).map(({ entry }) => entry)
    }
    return undefined
  }

  /** How many slots have an entry. */
  async count(): Promise<number> {
    let count = 0
    for (const part of this.buckets.parts()) {
      await this.home.run([part])
      count += slotsOf(part).full.filter(isThere).length
    }
    return count
  }

  /** Empty every slot that was full when it was looked at. */
  async clear(): Promise<void> {
    for (const part of this.buckets.parts()) {
      await this.home.run([part])
      const there = slotsOf(part).full.filter(isThere)
      for (let at = 0; at < there.length; at += ENTRIES_AT_ONCE)
        await this.#removeAll(there.slice(at, at + ENTRIES_AT_ONCE))
    }
  }

  async #removeAll(slots: readonly FullSlot[]): Promise<boolean> {
    if (slots.length === 0) return true
    const swaps = slots.map(({ place, word }) => new CompareExchangeCommand(place, word, 0n))
    await this.home.run(swaps)
    for (const [at, { block }] of slots.entries()) if (swaps[at]?.swapped === true) this.#pool.release(block)
    return swaps.every(({ swapped }) => swapped)
  }

  /** What the slots have; of those that were changed since, what they have now, if anything. */
  async #settled(slots: readonly FullSlot[]): Promise<FoundEntry[]> {
    const found: FoundEntry[] = []
    for (let left = slots; left.length > 0; ) {
      const entries = await this.buckets.entries(left)
      found.push(...entries.filter((entry) => entry !== undefined))
      left = await this.#again(left.filter((_, at) => entries[at] === undefined))
    }
    return found
  }

  async #again(slots: readonly FullSlot[]): Promise<FullSlot[]> {
    const again: FullSlot[] = []
    for (const { place } of slots) again.push(...slotsOf(await this.home.read(place, 8)).full.filter(isThere))
    return again
  }

  /** True where it is done. */
  async #apply(
    key: KeyBytes,
    look: Look,
    there: FoundEntry | undefined,
    change: MapChange,
    met: Set<bigint>,
  ): Promise<boolean> {
    if (change.kind === 'keep' || (change.kind === 'remove' && there === undefined)) return true
    if (change.kind === 'remove') return await this.#removeAll([there as FoundEntry])
    const block = await this.#pool.take(ENTRY_BYTES + key.bytes.length + change.value.length)
    const write = new WriteCommand(block.offset, writeMapEntry(block.tag, key, change.value, change.endOfLife))
    let done = false
    try {
      done =
        there === undefined
          ? await this.#insert(key, look, block, write, met)
          : await this.#replace(key, there, block, write)
    } finally {
      if (done) this.#pool.linked(block)
      else this.#pool.release(block)
    }
    return done
  }

  async #replace(key: KeyBytes, there: FoundEntry, block: OwnBlock, write: WriteCommand): Promise<boolean> {
    const swap = new CompareExchangeCommand(there.place, there.word, wordOf(key, block, false))
    await this.home.run([write, swap])
    if (swap.swapped) this.#pool.release(there.block)
    return swap.swapped
  }

  async #insert(key: KeyBytes, look: Look, block: OwnBlock, write: WriteCommand, met: Set<bigint>): Promise<boolean> {
    const [place] = look.empty
    if (place === undefined) return await this.#makeRoom(look)
    const claimed = wordOf(key, block, true)
    const claim = new CompareExchangeCommand(place, 0n, claimed)
    const reads = this.buckets.reads(key)
    await this.home.run([write, claim, ...reads])
    if (!claim.swapped) return false
    if (!(await this.#isAlone(key, place, this.buckets.see(key, reads), met))) {
      await this.home.compareExchange64(place, claimed, 0n)
      return false
    }
    return (await this.home.compareExchange64(place, claimed, wordOf(key, block, false))) === claimed
  }

  /** Whether no other slot has the key, or claims it for good. Claims that have to go are removed. */
  async #isAlone(key: KeyBytes, place: number, first: Look, met: Set<bigint>): Promise<boolean> {
    for (let look = first; ; look = await this.buckets.look(key)) {
      const others = look.candidates.filter((slot) => slot.place !== place)
      const rivals = await this.buckets.withKey(key, others)
      if (rivals === undefined) continue
      if (rivals.length === 0) return true
      const yields = rivals.some(
        ({ block, place: other, word }) => !block.tentative || (other < place && !met.has(word)),
      )
      for (const { word } of rivals) met.add(word)
      if (yields) return false
      if (await this.#removeAll(rivals)) return true
    }
  }

  /** Both buckets are full: whatever has expired goes. False, so that it is tried again. @throws StructureError where nothing has. */
  async #makeRoom({ full }: Look): Promise<false> {
    const now = this.home.words.nowMs()
    const entries = await this.buckets.entries(full)
    const over = entries.filter((found) => found !== undefined && isOver(found.entry, now)) as FoundEntry[]
    if (over.length === 0 && !entries.includes(undefined)) {
      const advice = 'open it with a greater capacity, under another name'
      throw new StructureError(
        'ERR_AETHER_MAP_FULL',
        this.home.what,
        `${this.home.what} has no room for this key; ${advice}`,
      )
    }
    await this.#removeAll(over)
    return false
  }

  async #pause(attempt: number): Promise<void> {
    if (attempt === 0) return
    const { words } = this.home
    await words.sleep(Math.min(PAUSE_MS_MAX, 2 ** Math.min(attempt, 10) / 64) * words.random())
  }
}

const ENTRIES_AT_ONCE = 16

/** Whether its life is over. */
export function isOver({ endOfLife }: MapEntry, nowMs: number): boolean {
  return endOfLife !== 0 && endOfLife <= nowMs
}

function isThere({ block }: FullSlot): boolean {
  return !block.tentative
}

function wordOf({ fingerprint }: KeyBytes, block: OwnBlock, tentative: boolean): bigint {
  return encodeBlock({ ...block, fingerprint, tentative })
}

import { HeapFullError, StructureError } from '../../errors.ts'
import type { BlockPool, OwnBlock } from '../heap/block-pool.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { CompareExchangeCommand, WriteCommand } from '../memory/command.ts'
import { BodyOffset, DEPTH_MAX, type MapBody } from './body.ts'
import { MapBound } from './bound.ts'
import { type FoundEntry, type Look, MapBuckets } from './buckets.ts'
import { ENTRY_BYTES, type MapEntry, writeMapEntry } from './entry.ts'
import { isOver, MapExpiry } from './expiry.ts'
import type { KeyBytes } from './key.ts'
import { MapMover } from './mover.ts'
import { emptySlot, type FullSlot, frozenSlot, fullSlot, isThere, liveWord, type Slot } from './slot.ts'
import { depthOf, MapTree } from './tree.ts'
import { MapWalk, type WalkedSlot } from './walk.ts'

/** What to do with a key, once it is known what is there. */
export type MapChange =
  | { readonly kind: 'keep' }
  | { readonly kind: 'remove' }
  | { readonly kind: 'put'; readonly value: Uint8Array; readonly endOfLife: number }

/** From one attempt to the next, in milliseconds: only where others want the same slots. */
const PAUSE_MS_MAX = 8

/**
 * The entries of a map at one home: RACE hashing, with two differences. Source: Zuo and others, "One-sided
 * RDMA-Conscious Extendible Hashing for Disaggregated Memory", USENIX ATC 2021.
 * 1. A full table is split into two new ones, slot by slot (mover.ts), so that no rank waits for the one that
 *    splits it.
 * 2. A new key is put in two steps.
 *
 * A slot names a block that does not change while a slot names it. To read is a READ of both buckets and one of the
 * blocks that they name. To replace or remove is a compare-and-swap of the slot, in which it takes effect. A slot's tag
 * is never the same twice, so nothing was changed in between.
 *
 * Two ranks could put a new key into two slots at a time. So a rank puts a new key like this:
 * 1. It *claims* a slot: it puts its block's name there, marked tentative. After that it looks at both buckets again.
 * 2. If no other slot has the key, it takes the mark away, and the entry is there. No reader sees it before.
 * 3. If it finds an entry with the key, it withdraws.
 * 4. If it finds another rank's claim, the claim in the lower place stays, and its rank removes the other.
 *
 * Of two claimants, the later one to claim sees the other's claim when it looks again, or what became of it. So they
 * never both have the key.
 *
 * A claim may stay because its rank was stopped. A rank that meets it twice removes it; the claimant then finds it gone
 * and starts again. It also starts again if the table is split. Claims are not moved, and no rank changes a key in the
 * tables below before both of its buckets above are frozen.
 */
export class MapShard {
  readonly memory: HomeMemory
  readonly buckets: MapBuckets
  readonly #pool: BlockPool
  readonly #mover: MapMover
  readonly #bound: MapBound | undefined
  readonly #expiry: MapExpiry

  /** `maxEntries` 0: no bound. */
  constructor(memory: HomeMemory, pool: BlockPool, body: MapBody, offset: number, maxEntries: number) {
    this.memory = memory
    this.#pool = pool
    const tree = new MapTree(memory, offset, body.nodes)
    const countPlace = maxEntries === 0 ? undefined : offset + BodyOffset.Count
    this.buckets = new MapBuckets(memory, tree, body.buckets, countPlace)
    if (countPlace !== undefined) this.#bound = new MapBound(memory, pool, this.buckets, countPlace, maxEntries)
    this.#expiry = new MapExpiry(() => memory.group.random())
    this.#mover = new MapMover(memory, pool, tree, body.buckets)
  }

  /**
   * The live entry of `key`. One round trip if no fingerprint fits, else two. It takes more only if a slot changed in
   * between, or a table was split unknown to this rank. Takes effect in the look at the buckets. `uses`: the look
   * counts as a use, if the map has a bound.
   */
  async find(key: KeyBytes, uses: boolean): Promise<MapEntry | undefined> {
    for (;;) {
      const look = await this.buckets.look(key)
      const found = await this.buckets.withKey(key, look.candidates.filter(isThere))
      if (found === undefined) continue
      const [there] = found
      if (there === undefined) return undefined
      if (this.#isOver(there)) {
        this.#drop([there])
        return undefined
      }
      if (uses) this.#bound?.touch(there, look.ages(there), look.count)
      return there.entry
    }
  }

  /**
   * Change what is there. `decide` is called with the living entry that was found, and again when it was not so any
   * more. Gives what was there before. Three round trips: both buckets, the candidates' blocks (where there are any),
   * then block and slot; for a new key one more. While the table is split a few more, to help.
   */
  async change(key: KeyBytes, decide: (there: MapEntry | undefined) => MapChange): Promise<MapEntry | undefined> {
    const met = new Set<bigint>()
    for (let attempt = 0; ; attempt += 1) {
      const look = await this.buckets.look(key)
      if (look.route.splitting && (await this.#help(key, look)) && look.moving) continue
      const found = await this.buckets.withKey(key, look.candidates.filter(isThere))
      if (found !== undefined) {
        const [there] = found
        const living = there === undefined || this.#isOver(there) ? undefined : there.entry
        const change = decide(living)
        if (there !== undefined && living === undefined && change.kind === 'keep') this.#drop([there])
        if (await this.#apply(key, look, there, change, met)) return living
      }
      await this.#pause(attempt)
    }
  }

  /** Every living entry that is there, part by part. */
  async *visit(): AsyncGenerator<readonly MapEntry[], undefined> {
    const walk = this.#walk()
    for await (const there of walk.parts()) {
      for (let at = 0; at < there.length; at += ENTRIES_AT_ONCE)
        yield await this.#settled(walk, there.slice(at, at + ENTRIES_AT_ONCE))
    }
    return undefined
  }

  /** How many slots have an entry. */
  async count(): Promise<number> {
    let count = 0
    for await (const there of this.#walk().parts()) count += there.length
    return count
  }

  /** Empty every slot that was full when it was looked at. */
  async clear(): Promise<void> {
    const walk = this.#walk()
    for await (const there of walk.parts()) {
      for (let at = 0; at < there.length; at += ENTRIES_AT_ONCE)
        await this.#clear(walk, there.slice(at, at + ENTRIES_AT_ONCE))
    }
  }

  #walk(): MapWalk {
    return new MapWalk(this.memory, this.buckets)
  }

  /** Frozen ones are removed where they are moved to. */
  async #clear(walk: MapWalk, slots: readonly WalkedSlot[]): Promise<void> {
    for (let left = slots; left.length > 0; ) {
      const befores = await this.#remove(left)
      const frozen = left.filter((slot, at) => befores[at] === frozenSlot(slot))
      for (const node of new Set(frozen.map((slot) => slot.node))) await this.#mover.finish(node)
      left = (await Promise.all(frozen.map((slot) => walk.again(slot)))).flat()
    }
  }

  async #removeAll(slots: readonly FullSlot[]): Promise<boolean> {
    return allGone(slots, await this.#remove(slots))
  }

  /** Gives what each slot was before: one was removed where that is as it was seen, and not frozen. */
  async #remove(slots: readonly FullSlot[]): Promise<readonly bigint[]> {
    if (slots.length === 0) return []
    return (await this.#bound?.remove(slots)) ?? (await this.#takeOut(slots))
  }

  #isOver({ entry }: FoundEntry): boolean {
    this.#expiry.note(entry.endOfLife)
    return isOver(entry, this.memory.group.nowMs())
  }

  /** Take out what has expired, without waiting for it. */
  #drop(slots: readonly FullSlot[]): void {
    void this.#remove(slots).catch(() => {})
  }

  async #takeOut(slots: readonly FullSlot[]): Promise<readonly bigint[]> {
    const swaps = slots.map(
      (slot) => new CompareExchangeCommand(slot.place, liveWord(slot), emptySlot(slot.generation)),
    )
    await this.memory.run(swaps)
    for (const [at, { block }] of slots.entries()) if (swaps[at]?.swapped === true) this.#pool.release(block)
    return swaps.map(({ before }) => before)
  }

  /** What the slots have; of those that were changed since, what they have now, if anything. */
  async #settled(walk: MapWalk, slots: readonly WalkedSlot[]): Promise<MapEntry[]> {
    const found: MapEntry[] = []
    for (let left = slots; left.length > 0; ) {
      const entries = await this.buckets.entries(left)
      const there = entries.filter((slot) => slot !== undefined)
      const over = there.filter((slot) => this.#isOver(slot))
      this.#drop(over)
      found.push(...there.filter((slot) => !over.includes(slot)).map(({ entry }) => entry))
      const changed = left.filter((_, at) => entries[at] === undefined)
      left = (await Promise.all(changed.map((slot) => walk.again(slot)))).flat()
    }
    return found
  }

  /**
   * Help to split the table. False where there is no memory for that: as long as nothing is moved the table serves as
   * it is.
   */
  async #help(key: KeyBytes, { route, full, empty }: Look): Promise<boolean> {
    try {
      await this.#mover.help(route.node, this.buckets.choices(key))
      return true
    } catch (error) {
      if (!(error instanceof HeapFullError) || [...full, ...empty].some(({ frozen }) => frozen)) throw error
      return false
    }
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
    if (change.kind === 'remove') return await this.#removeAll([there!])
    this.#expiry.note(change.endOfLife)
    const block = await this.#takeBlock(ENTRY_BYTES + key.bytes.length + change.value.length)
    const write = new WriteCommand(block.offset, writeMapEntry(block.tag, key, change.value, change.endOfLife))
    let done = false
    try {
      done =
        there === undefined
          ? await this.#insert(key, look, block, write, met)
          : await this.#replace(key, look, there, block, write)
    } finally {
      if (done) this.#pool.linked(block)
      else this.#pool.release(block)
    }
    return done
  }

  /** Where there is no memory and entries may be evicted, some are. @throws HeapFullError */
  async #takeBlock(lengthBytes: number): Promise<OwnBlock> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#pool.take(lengthBytes)
      } catch (error) {
        if (!(error instanceof HeapFullError) || this.#bound === undefined || attempt === EVICTIONS_MAX) throw error
        await this.#bound.evict(EVICTED_AT_A_TIME)
      }
    }
  }

  async #replace(key: KeyBytes, look: Look, there: FoundEntry, block: OwnBlock, write: WriteCommand): Promise<boolean> {
    const swap = new CompareExchangeCommand(there.place, there.word, wordOf(key, block, false))
    const passed = this.#expiry.passBy(look.full, there.place)
    const before = [write, ...passed.commands]
    if (this.#bound === undefined) await this.memory.run([...before, swap])
    else await this.#bound.replace(before, swap, look.ages(there), look.count)
    this.#drop(passed.over(this.memory.group.nowMs()))
    if (swap.swapped) this.#pool.release(there.block)
    return swap.swapped
  }

  async #insert(key: KeyBytes, look: Look, block: OwnBlock, write: WriteCommand, met: Set<bigint>): Promise<boolean> {
    const [slot] = look.empty
    if (slot === undefined) return await this.#makeRoom(key, look)
    const { place, word: empty } = slot
    const claimed = wordOf(key, block, true)
    const claim = new CompareExchangeCommand(place, empty, claimed)
    const reads = this.buckets.reads(key)
    const sample = this.#bound?.sampleFor(look.count)
    const passed = this.#expiry.passBy(look.full, undefined)
    await this.memory.run([write, claim, ...(reads?.commands ?? []), ...(sample?.commands ?? []), ...passed.commands])
    this.#drop(passed.over(this.memory.group.nowMs()))
    if (!claim.swapped) return false
    if (!(await this.#isAlone(key, slot, reads && this.buckets.see(key, reads), met))) {
      await this.memory.compareExchange64(place, claimed, empty)
      return false
    }
    const confirm = new CompareExchangeCommand(place, claimed, wordOf(key, block, false))
    if (this.#bound === undefined) await this.memory.run([confirm])
    else await this.#bound.confirm(confirm, look.ages(slot), look.count, sample)
    return confirm.swapped
  }

  /** Whether no other slot has the key, or claims it for good. Claims that have to go are removed. */
  async #isAlone(key: KeyBytes, own: Slot, first: Look | undefined, met: Set<bigint>): Promise<boolean> {
    for (let look = first; ; look = await this.buckets.look(key)) {
      // The table is split, and the claim goes with it.
      if (look === undefined || look.moving || look.table.generation !== own.generation) return false
      const others = look.candidates.filter((slot) => slot.place !== own.place)
      const rivals = await this.buckets.withKey(key, others)
      if (rivals === undefined) continue
      if (rivals.length === 0) return true
      const yields = rivals.some(
        ({ block, place: other, word }) => !block.tentative || (other < own.place && !met.has(word)),
      )
      for (const { word } of rivals) met.add(word)
      if (yields) return false
      if (allGone(rivals, await this.#takeOut(rivals))) return true
    }
  }

  /**
   * Both buckets are full: what has expired goes, else the table is split. False, so that it is tried again. @throws
   * StructureError where it cannot be; HeapFullError.
   */
  async #makeRoom(key: KeyBytes, { route, table, full }: Look): Promise<false> {
    const entries = await this.buckets.entries(full)
    const over = entries.filter((found) => found !== undefined && this.#isOver(found)) as FoundEntry[]
    await this.#removeAll(over)
    if (over.length > 0 || entries.includes(undefined)) return false
    if (table !== route.table) await this.#mover.finish(route.node)
    else if (depthOf(route.node) < DEPTH_MAX) await this.#mover.help(route.node, this.buckets.choices(key))
    else if (this.#bound === undefined) throw this.#full()
    else await this.#remove(full.filter(isThere).slice(0, 1))
    return false
  }

  #full(): StructureError {
    const why = 'has no room for this key: it has grown as far as it can; keep it at more homes, or bound what is kept'
    return new StructureError('ERR_AETHER_MAP_FULL', this.memory.what, `${this.memory.what} ${why}`)
  }

  async #pause(attempt: number): Promise<void> {
    if (attempt === 0) return
    const { group } = this.memory
    await group.sleep(Math.min(PAUSE_MS_MAX, 2 ** Math.min(attempt, 10) / 64) * group.random())
  }
}

const ENTRIES_AT_ONCE = 16

/** Entries that are evicted for a block that there is no memory for, and how often that is done. */
const EVICTED_AT_A_TIME = 8
const EVICTIONS_MAX = 8

function allGone(slots: readonly FullSlot[], befores: readonly bigint[]): boolean {
  return befores.every((before, at) => before === liveWord(slots[at]!))
}

function wordOf({ fingerprint }: KeyBytes, block: OwnBlock, tentative: boolean): bigint {
  return fullSlot({ ...block, fingerprint, tentative })
}

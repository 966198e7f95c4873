import { HeapFullError } from '../../errors.ts'
import type { BlockPool } from '../heap/block-pool.ts'
import type { Chunk, Chunks } from '../heap/chunks.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { type Command, CompareExchangeCommand, ReadCommand } from '../memory/command.ts'
import { BATCH_MAX } from '../memory/group-memory.ts'
import { agesPlace } from './ages.ts'
import { BUCKET_SLOTS } from './body.ts'
import { HEAD_BYTES, readHead } from './entry.ts'
import {
  BucketsRead,
  emptySlot,
  frozenSlot,
  isFull,
  liveWord,
  type Slot,
  tableBytes,
  unsetSlot,
  withWord,
} from './slot.ts'
import { branchOf, depthOf, doneWord, type MapTable, type MapTree, nodeWord, tableOf } from './tree.ts'

/** Buckets that are moved together. */
const GROUP_BUCKETS = 4
/** Groups that a writer moves besides its own. */
const GROUPS_A_WRITE = 4

/** A table that is split, and those that take its place. */
interface Split {
  readonly node: number
  readonly word: bigint
  readonly from: MapTable
  readonly left: MapTable
  readonly right: MapTable
}

/** What this rank has done of a split, or is about to do. */
interface Progress {
  readonly groups: Map<number, Promise<void>>
  end: Promise<void> | undefined
}

/** One slot of the three tables. */
interface Place {
  readonly from: Slot
  readonly left: Slot
  readonly right: Slot
}

/**
 * Splits tables. Lock-free: writers help, and each step is a compare-and-swap that has no effect when it comes late.
 * The others finish what a dead rank left undone.
 *
 * 1. Two tables are linked below the one that is full, with every slot *unset*.
 * 2. Then, slot by slot, the slot is frozen, so that no rank changes it any more.
 * 3. An empty slot is put into the same slot of the table that its hash does not choose. After that the entry is put
 *    into the same slot of the table below that its hash chooses.
 * 4. So as long as the slot of an entry is unset in its table, no rank can have changed the entry. Its block then tells
 *    its hash. A late mover finds neither slot unset.
 * 5. When all slots are moved the node is done, and the chunk is free.
 */
export class MapMover {
  readonly #memory: HomeMemory
  readonly #pool: BlockPool
  readonly #chunks: Chunks
  readonly #tree: MapTree
  readonly #buckets: number
  /** Of nodes that are being split. */
  readonly #progress = new Map<number, Progress>()
  /** Of nodes below which tables are being linked. */
  readonly #linking = new Map<number, Promise<void>>()

  constructor(memory: HomeMemory, pool: BlockPool, tree: MapTree, buckets: number) {
    this.#memory = memory
    this.#pool = pool
    this.#chunks = pool.chunks
    this.#tree = tree
    this.#buckets = buckets
  }

  get groups(): number {
    return this.#buckets / GROUP_BUCKETS
  }

  /**
   * Move these buckets of the table at `node`, and a few more. The tables below are made where there are none: so this
   * is also how a split begins. Nothing to do where the node is done.
   * @throws HeapFullError where there is no memory for the tables.
   */
  async help(node: number, buckets: readonly number[]): Promise<void> {
    const split = await this.#begin(node)
    if (split === undefined) return
    const groups = new Set(buckets.map((bucket) => Math.floor(bucket / GROUP_BUCKETS)))
    await Promise.all([...groups].map((group) => this.#moveOnce(split, group)))
    await this.#moveSome(split, GROUPS_A_WRITE)
  }

  /** Move all that is left of the table at `node`. */
  async finish(node: number): Promise<void> {
    const split = await this.#begin(node)
    if (split !== undefined) await this.#moveSome(split, this.groups)
  }

  /** Undefined where the node is done. */
  async #begin(node: number): Promise<Split | undefined> {
    for (;;) {
      const word = this.#tree.word(node)
      const from = tableOf(word)
      if (from === undefined) return undefined
      const [left, right] = [2 * node, 2 * node + 1].map((below) => tableOf(this.#tree.word(below)))
      if (left !== undefined && right !== undefined) return { node, word, from, left, right }
      await this.#linkOnce(node)
    }
  }

  /** One call of this rank does it for all of them. */
  async #linkOnce(node: number): Promise<void> {
    const linking = this.#linking.get(node) ?? this.#linkBelow(node).finally(() => this.#linking.delete(node))
    this.#linking.set(node, linking)
    await linking
  }

  async #linkBelow(node: number): Promise<void> {
    const missing = (): number[] => [2 * node, 2 * node + 1].filter((below) => this.#tree.word(below) === 0n)
    const linked = await this.#link(missing())
    // Where another has linked them they may be done by now.
    await this.#tree.refresh()
    if (!linked && missing().length > 0) throw this.#full()
  }

  /** Have tables at these nodes, where there are none: all or, where there is no memory, nothing. */
  async #link(nodes: readonly number[]): Promise<boolean> {
    const taken: Chunk[] = []
    for (const _ of nodes) {
      const chunk = await this.#pool.takeChunk({ kind: 'map table' })
      if (chunk !== undefined) taken.push(chunk)
    }
    if (taken.length < nodes.length) {
      for (const chunk of taken) await this.#chunks.giveBack(chunk, chunk.tagFloor)
      return false
    }
    for (const [at, chunk] of taken.entries()) {
      await this.#chunks.write(chunk, tableBytes(this.#buckets, unsetSlot(chunk.tagFloor)))
      const word = nodeWord({ chunk: chunk.index, generation: chunk.tagFloor })
      const before = await this.#memory.compareExchange64(this.#tree.place(nodes[at]!), 0n, word)
      if (before !== 0n) await this.#chunks.giveBack(chunk, chunk.tagFloor)
    }
    return true
  }

  /** A few groups more, from where this rank goes on; where none is left the split is over. */
  async #moveSome(split: Split, count: number): Promise<void> {
    const { node } = split
    const progress = this.#progressOf(node)
    const first = Math.floor((this.groups * this.#memory.group.rank) / this.#memory.group.ranks)
    const all = Array.from({ length: this.groups }, (_, at) => (first + at) % this.groups)
    const some = all.filter((group) => !progress.groups.has(group)).slice(0, count)
    await Promise.all(some.map((group) => this.#moveOnce(split, group)))
    if (progress.groups.size < this.groups) return
    await Promise.all(progress.groups.values())
    progress.end ??= this.#end(split).finally(() => this.#progress.delete(node))
    await progress.end
  }

  #moveOnce(split: Split, group: number): Promise<void> {
    const { groups } = this.#progressOf(split.node)
    const moving = groups.get(group) ?? this.#moveGroup(split, group)
    groups.set(group, moving)
    return moving
  }

  #progressOf(node: number): Progress {
    const progress = this.#progress.get(node) ?? { groups: new Map(), end: undefined }
    this.#progress.set(node, progress)
    return progress
  }

  async #moveGroup(split: Split, group: number): Promise<void> {
    const [from, left, right] = [split.from, split.left, split.right].map(
      (table) => new BucketsRead(table, this.#buckets, group * GROUP_BUCKETS, GROUP_BUCKETS),
    ) as [BucketsRead, BucketsRead, BucketsRead]
    const node = new ReadCommand(this.#tree.place(split.node), 8)
    await this.#run([...from.commands, ...left.commands, ...right.commands, node])
    // Done by others: what was read may be of another table.
    if (node.word() !== split.word) return
    const [lefts, rights] = [left.slots(), right.slots()]
    const places = from
      .slots()
      .map((slot, at): Place => ({ from: slot, left: lefts[at]!, right: rights[at]! }))
      .filter((place) => place.left.unset || place.right.unset)
    if (places.length === 0) return
    const frozen = await this.#freeze(split, places)
    if (frozen !== undefined) await this.#copy(split, frozen, agesOf(from, lefts, rights))
  }

  /**
   * Undefined where others have done it: then what a slot was found to be may be of another table, and must not be
   * frozen.
   */
  async #freeze({ node, word }: Split, places: readonly Place[]): Promise<readonly Place[] | undefined> {
    const frozen = places.filter(({ from }) => from.frozen)
    for (let left = places.filter(({ from }) => !from.frozen); left.length > 0; ) {
      const swaps = left.map(({ from }) => new CompareExchangeCommand(from.place, from.word, frozenSlot(from)))
      const still = new ReadCommand(this.#tree.place(node), 8)
      await this.#run([...swaps, still])
      if (still.word() !== word) return undefined
      const now = left.map((place, at): Place => {
        const { swapped, before, desired } = swaps[at]!
        return { ...place, from: withWord(place.from, swapped ? desired : before) }
      })
      frozen.push(...now.filter(({ from }) => from.frozen))
      left = now.filter(({ from }) => !from.frozen)
    }
    return frozen
  }

  async #copy({ node, left, right }: Split, places: readonly Place[], ages: readonly Command[]): Promise<void> {
    const full = places.map(({ from }) => from).filter(isFull)
    const heads = full.map(({ block }) => new ReadCommand(block.offset, HEAD_BYTES))
    await this.#run([...ages, ...heads])
    const headOf = new Map(full.map((slot, at) => [slot.place, readHead(slot.block, heads[at]!.bytes)]))
    const empties: Command[] = []
    const entries: Command[] = []
    for (const place of places) {
      const put = (at: Slot, word: bigint, commands: Command[]): void => {
        if (at.unset) commands.push(new CompareExchangeCommand(at.place, at.word, word))
      }
      const empty = { left: emptySlot(left.generation), right: emptySlot(right.generation) }
      if (!isFull(place.from)) {
        put(place.left, empty.left, empties)
        put(place.right, empty.right, empties)
        continue
      }
      const head = headOf.get(place.from.place)
      // The block is another's by now: both slots have been set since.
      if (head === undefined) continue
      const goesRight = branchOf(head.hash, depthOf(node))
      put(goesRight ? place.left : place.right, goesRight ? empty.left : empty.right, empties)
      put(goesRight ? place.right : place.left, liveWord(place.from), entries)
    }
    await this.#run(empties)
    await this.#run(entries)
  }

  /** All is moved. */
  async #end({ node, word, from }: Split): Promise<void> {
    // It is this rank's first: if a rank dies with a table that no node has, the home gets it.
    const chunk = await this.#chunks.at(from.chunk)
    if (isOf(chunk, from)) await this.#chunks.adopt(chunk)
    await this.#memory.compareExchange64(this.#tree.place(node), word, doneWord(word))
    this.#tree.note(node, doneWord(word))
    for (let old = await this.#chunks.at(from.chunk); isOf(old, from); old = await this.#chunks.at(from.chunk))
      if (await this.#chunks.giveBack(old, old.tagFloor)) return
  }

  /** As many batches as it takes, one after the other. */
  async #run(commands: readonly Command[]): Promise<void> {
    for (let at = 0; at < commands.length; at += BATCH_MAX) await this.#memory.run(commands.slice(at, at + BATCH_MAX))
  }

  #full(): HeapFullError {
    const { lengthBytes } = this.#chunks
    const why = ` (${this.#memory.what}, kept at rank ${this.#memory.home}, has to grow)`
    return new HeapFullError(tableBytes(this.#buckets, 0n).length, lengthBytes, lengthBytes, why)
  }
}

/** When the entries were used, for both tables below; nothing if uses are not recorded. */
function agesOf(from: BucketsRead, ...below: readonly (readonly Slot[])[]): Command[] {
  return from.slots().flatMap(({ place }, at) => {
    const ages = at % BUCKET_SLOTS === 0 ? from.ages(place) : undefined
    if (ages === undefined || ages === 0n) return []
    return below.map((slots) => new CompareExchangeCommand(agesPlace(slots[at]!.place), 0n, ages))
  })
}

/** Whether the chunk is in use as this table still. */
function isOf({ owner, use, tagFloor }: Chunk, { generation }: MapTable): boolean {
  return owner !== undefined && use.kind === 'map table' && tagFloor === generation
}

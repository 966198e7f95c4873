import { SystemError } from '../../native/index.ts'
import type { Backing } from '../memory/backing.ts'
import { BlockKind, kindOf } from './block-state.ts'
import type { BlockTable } from './block-table.ts'
import { countSlabs } from './growth.ts'
import { SLAB_BYTES } from './layout.ts'
import { blocksPerSlab, CLASS_GRANULES } from './size-classes.ts'
import { SlabKind, slabDetail, slabKind, slabWord } from './slab-word.ts'

/** Less than 512 KiB is not worth the work. */
const EXCESS_SLABS_MIN = 8
/** Free memory that stays, of what is in use: what goes up and down by that much costs nothing. At least 1 MiB. */
const SLACK_SHIFT = 3
const SLACK_SLABS_MIN = 16
/** How many slabs become empty before the next look: a 64th of those with memory, up to a 16th if it finds nothing. */
const WAIT_SHIFT = 6
const WAIT_SHIFT_LEAST = 4

/** A slab that is known to be empty, in place of a block of it that is in use. */
const EMPTY = -1

/** Free slabs that are kept for blocks without which no memory is freed; `resident`: slabs with memory. */
export function keptBack(resident: number): number {
  return Math.max(3, resident >>> 4)
}

/**
 * Gives memory back that has become free.
 *
 * A member that frees the last block of a slab finds out that it is empty, without counting. For each slab it remembers
 * one block that is in use, its *witness*. Only if that is free does it look for another. If blocks are freed in random
 * order, that happens a few times for each slab. Of two members that free the last two blocks at once, one at least
 * sees both free, for each frees before it looks.
 *
 * Empty slabs are collected until there are enough of them. What exceeds the slack is then closed and becomes holes. A
 * hole has its word in place, and its block states in memory: others may look at these at any time. Its blocks have no
 * memory. No participant looks at the bytes of a block that is free:
 * 1. A block is freed when no member can be looking at it (epochs.ts), and a slab is closed when all of its blocks are
 *    free.
 * 2. Those who have kept a reference for too long take the block by its state, and then look at the slab's word.
 * 3. To make a slab a hole, it is first made Bare by a compare-and-swap of a word that says that it is free. So no
 *    member makes it ready for blocks meanwhile.
 */
export class Shrinking {
  readonly #blocks: BlockTable
  readonly #slot: number
  readonly #backing: Backing
  /** By slab: a block that was in use when we looked, EMPTY, or 0. */
  readonly #witnesses: Int32Array
  /** Slabs that became empty, by our freeing. */
  #empty: number[] = []
  /** Slabs that became free as a whole, since the last look. */
  #freed = 0
  #wait = EXCESS_SLABS_MIN
  #waitShift = WAIT_SHIFT

  constructor(blocks: BlockTable, slot: number, backing: Backing) {
    this.#blocks = blocks
    this.#slot = slot
    this.#backing = backing
    this.#witnesses = new Int32Array(blocks.layout.slabs)
  }

  /** Whether it is time for {@link giveBack}. */
  get isDue(): boolean {
    return this.#empty.length + this.#freed >= this.#wait
  }

  /** A block was freed. */
  noteBlock(reference: number, slab: number, sizeClass: number): void {
    const witness = this.#witnesses[slab]!
    if (witness === EMPTY || (witness !== reference && witness !== 0 && this.#isUsed(witness))) return
    const other = this.#findUsed(slab, sizeClass, reference)
    this.#witnesses[slab] = other
    if (other === EMPTY) this.#empty.push(slab)
  }

  /** Slabs were freed as a whole. */
  noteSlabs(count: number): void {
    this.#freed += count
  }

  /** Close empty slabs by `close`, and give back the memory that exceeds the slack. */
  giveBack(close: (slab: number) => boolean): void {
    const { free, resident } = countSlabs(this.#blocks)
    const empty = this.#stillEmpty()
    const used = resident - free - empty.length
    const slack = Math.max(SLACK_SLABS_MIN, used >>> SLACK_SHIFT)
    const excess = free + empty.length - keptBack(used) - slack
    const isWorth = excess >= EXCESS_SLABS_MIN && !this.#backing.isWhole
    if (isWorth) this.#release(excess, free, empty, close)
    this.#empty = empty
    this.#freed = 0
    this.#waitShift = isWorth ? WAIT_SHIFT : Math.max(WAIT_SHIFT_LEAST, this.#waitShift - 1)
    this.#wait = empty.length + Math.max(EXCESS_SLABS_MIN, empty.length >>> 1, resident >>> this.#waitShift)
  }

  /** The last ones first, so that what is in use gathers at the start. Takes slabs out of `empty`. */
  #release(excess: number, free: number, empty: number[], close: (slab: number) => boolean): void {
    empty.sort((a, b) => a - b)
    let closed = 0
    for (let wanted = Math.min(excess, empty.length); wanted > 0; wanted -= 1) {
      const slab = empty.pop()!
      this.#witnesses[slab] = 0
      if (close(slab)) closed += 1
    }
    this.#punch(Math.min(excess, free + closed))
  }

  /** Those that were empty and have been filled again have to become empty once more. */
  #stillEmpty(): number[] {
    const still: number[] = []
    for (const slab of this.#empty) {
      const word = this.#blocks.word(slab)
      const isSized = slabKind(word) === SlabKind.Sized
      const used = isSized ? this.#findUsed(slab, slabDetail(word), this.#blocks.headOf(slab)) : 0
      this.#witnesses[slab] = used
      if (used === EMPTY) still.push(slab)
    }
    return still
  }

  /** Make up to `count` free slabs holes. */
  #punch(count: number): void {
    for (let end = this.#blocks.backed; end > 0 && count > 0; end -= 1) {
      let begin = end
      while (begin > 0 && end - begin < count && this.#claimFree(begin - 1)) begin -= 1
      if (begin === end) continue
      this.#punchRow(begin, end)
      count -= end - begin
      end = begin
    }
  }

  #claimFree(slab: number): boolean {
    const word = this.#blocks.peekWord(slab)
    if (slabKind(word) !== SlabKind.Free) return false
    return this.#blocks.changeWord(slab, word, slabWord(SlabKind.Bare, this.#slot, 0))
  }

  #punchRow(begin: number, end: number): void {
    const hole = slabWord(SlabKind.Hole, 0, 0)
    try {
      this.#backing.giveBack(this.#blocks.layout.slabsOffset + begin * SLAB_BYTES, (end - begin) * SLAB_BYTES)
    } catch (error) {
      // The kernel may have given back a part of it. A hole may have memory: it is taken again before it is used.
      if (!(error instanceof SystemError)) throw error
    }
    for (let slab = begin; slab < end; slab += 1) this.#blocks.setWord(slab, hole)
  }

  /** The block in use that is nearest to `from`, since blocks that are taken together are freed together; or EMPTY. */
  #findUsed(slab: number, sizeClass: number, from: number): number {
    const step = CLASS_GRANULES[sizeClass]!
    const head = this.#blocks.headOf(slab)
    const end = head + blocksPerSlab(sizeClass) * step
    for (let below = from, above = from + step; below >= head || above < end; below -= step, above += step) {
      if (below >= head && this.#isUsed(below)) return below
      if (above < end && this.#isUsed(above)) return above
    }
    return EMPTY
  }

  #isUsed(reference: number): boolean {
    const kind = kindOf(this.#blocks.state(reference))
    return kind === BlockKind.Live || kind === BlockKind.Retired
  }
}

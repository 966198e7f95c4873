import type { WordMemory } from '../memory/word-memory.ts'
import { BlockKind, blockState, generationOf, kindOf } from './block-state.ts'
import {
  GRANULE_BYTES,
  GRANULES_PER_SLAB,
  GRANULES_PER_SLAB_LOG2,
  HeaderOffset,
  type HeapLayout,
  SLAB_RECORD_BYTES,
} from './layout.ts'
import { blocksPerSlab, CLASS_GRANULES } from './size-classes.ts'
import { SlabKind, slabDetail, slabKind } from './slab-word.ts'

/** 0xdb in each byte. */
const POISON = 0xdbdbdbdb | 0

/** States of blocks and records of slabs, by reference and by slab. */
export class BlockTable {
  /** Whether what is freed is overwritten. */
  poisons: boolean = false
  readonly layout: HeapLayout
  readonly #memory: WordMemory
  readonly #statesOffset: number
  readonly #recordsOffset: number
  readonly #first: number

  constructor(memory: WordMemory, layout: HeapLayout) {
    this.#memory = memory
    this.layout = layout
    this.#statesOffset = layout.statesOffset
    this.#recordsOffset = layout.recordsOffset
    this.#first = layout.firstReference
  }

  /** How many slabs have had memory, from the first on: nothing of others is to be touched. */
  get backed(): number {
    return this.#memory.load(HeaderOffset.Backed)
  }

  /** Slabs below `to` have had memory. */
  raiseBacked(to: number): void {
    for (let from = this.backed; from < to; from = this.backed) {
      this.#memory.compareExchange(HeaderOffset.Backed, from, to)
    }
  }

  state(reference: number): number {
    return this.#memory.load(this.#statesOffset + (reference - this.#first) * 4)
  }

  /**
   * The same by a plain load: of a block that was reached within an epoch, or is this participant's. Otherwise it is a
   * guess that a compare-and-swap checks.
   */
  peekState(reference: number): number {
    return this.#memory.peek(this.#statesOffset + (reference - this.#first) * 4)
  }

  /** True when it was `from` and is `to` now. */
  change(reference: number, from: number, to: number): boolean {
    return this.#memory.compareExchange(this.#statesOffset + (reference - this.#first) * 4, from, to) === from
  }

  slabOf(reference: number): number {
    return (reference - this.#first) >>> GRANULES_PER_SLAB_LOG2
  }

  /** Reference of a slab's first block. */
  headOf(slab: number): number {
    return this.#first + slab * GRANULES_PER_SLAB
  }

  word(slab: number): number {
    return this.#memory.load(this.#recordsOffset + slab * SLAB_RECORD_BYTES)
  }

  /**
   * The same by a plain load: of a slab with a block that is or was in use, for which the word does not change.
   * Otherwise it is a guess.
   */
  peekWord(slab: number): number {
    return this.#memory.peek(this.#recordsOffset + slab * SLAB_RECORD_BYTES)
  }

  changeWord(slab: number, from: number, to: number): boolean {
    return this.#memory.compareExchange(this.#recordsOffset + slab * SLAB_RECORD_BYTES, from, to) === from
  }

  setWord(slab: number, word: number): void {
    this.#memory.store(this.#recordsOffset + slab * SLAB_RECORD_BYTES, word)
  }

  /**
   * How often blocks of the slab were freed: a member that has looked through it since the last time does not look
   * again.
   */
  freed(slab: number): number {
    return this.#memory.load(this.#recordsOffset + slab * SLAB_RECORD_BYTES + 4)
  }

  countFreed(slab: number): void {
    this.#memory.fetchAdd(this.#recordsOffset + slab * SLAB_RECORD_BYTES + 4, 1)
  }

  /** Bytes of the block behind `reference`. */
  lengthOf(reference: number): number {
    const word = this.word(this.slabOf(reference))
    if (slabKind(word) === SlabKind.Head) return slabDetail(word) * GRANULES_PER_SLAB * GRANULE_BYTES
    return CLASS_GRANULES[slabDetail(word)]! * GRANULE_BYTES
  }

  /**
   * Call `visit` with each block of a slab and its state. Blocks of slabs that are nothing at the moment are not
   * visited.
   */
  eachBlock(slab: number, visit: (reference: number, state: number) => void): void {
    const word = this.word(slab)
    const kind = slabKind(word)
    const head = this.headOf(slab)
    if (kind === SlabKind.Head) visit(head, this.state(head))
    if (kind !== SlabKind.Sized && kind !== SlabKind.Closing) return
    const step = CLASS_GRANULES[slabDetail(word)]!
    const end = head + blocksPerSlab(slabDetail(word)) * step
    for (let reference = head; reference < end; reference += step) visit(reference, this.state(reference))
  }

  /** Make the block free, without an owner: what was done to it before is visible to the next taker. */
  free(reference: number, state: number): void {
    const at = this.#statesOffset + (reference - this.#first) * 4
    this.#memory.store(at, blockState(BlockKind.Free, 0, generationOf(state)))
    this.countFreed(this.slabOf(reference))
  }

  /** Fill a block that no member may look at any more. */
  poison(reference: number): void {
    const at = reference * GRANULE_BYTES
    const end = at + this.lengthOf(reference)
    for (let offset = at; offset < end; offset += 4) this.#memory.poke(offset, POISON)
  }

  /** Bytes of blocks that are live or retired. */
  usedBytes(): number {
    let used = 0
    for (let slab = 0, { backed } = this; slab < backed; slab += 1) {
      this.eachBlock(slab, (reference, state) => {
        const kind = kindOf(state)
        if (kind === BlockKind.Live || kind === BlockKind.Retired) used += this.lengthOf(reference)
      })
    }
    return used
  }
}

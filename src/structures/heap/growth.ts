import { MemoryExhaustedError } from '../../dsm/index.ts'
import type { Backing } from '../memory/backing.ts'
import { nowMs } from '../now.ts'
import type { BlockTable } from './block-table.ts'
import { SLAB_BYTES, SLAB_STATES_BYTES } from './layout.ts'
import { SlabKind, slabKind, slabWord } from './slab-word.ts'

/** The least that is taken at once: 1 MiB. */
const STEP_SLABS_MIN = 16
/** What is taken at once, of what is there: an eighth. So a heap grows in as many steps as its size has bits, or so. */
const STEP_SHIFT = 3
/** Where memory was refused it is asked for again after this time, or when an operation would fail without it. */
const REFUSAL_MS = 100

/** Slabs by what they are. */
export interface SlabCensus {
  readonly free: number
  /** Slabs with memory, those that are free included. */
  readonly resident: number
}

/** Count the slabs of a heap. */
export function countSlabs(blocks: BlockTable): SlabCensus {
  let free = 0
  let holes = 0
  const { backed } = blocks
  for (let slab = 0; slab < backed; slab += 1) {
    const kind = slabKind(blocks.peekWord(slab))
    if (kind === SlabKind.Free) free += 1
    if (kind === SlabKind.Hole) holes += 1
  }
  return { free, resident: backed - holes }
}

/**
 * Takes memory for slabs, as it is needed.
 *
 * Two kinds of slabs have none: those that were never used, from `Backed` on, and holes, whose memory was given back.
 * 1. Memory is taken first, and then the slab is made known: by raising `Backed`, or by a word that says that the slab
 *    is free. A member that is killed in between has lost nothing: taking it again is done at once.
 * 2. Two members that take memory for the same slabs beyond `Backed` do the same twice. Neither gives any back.
 * 3. A hole is first made Bare by a compare-and-swap, so that only one member works on it.
 * 4. If memory is refused, everything is as before, and an operation fails with an error: no signal, no death.
 */
export class Growth {
  readonly #blocks: BlockTable
  readonly #slot: number
  readonly #backing: Backing
  #refusedAtMs = Number.NEGATIVE_INFINITY
  #refusal: MemoryExhaustedError | undefined

  constructor(blocks: BlockTable, slot: number, backing: Backing) {
    this.#blocks = blocks
    this.#slot = slot
    this.#backing = backing
    if (backing.isWhole) blocks.raiseBacked(blocks.layout.slabs)
  }

  /** Why memory was refused, if it was when it was last asked for. */
  get refusal(): MemoryExhaustedError | undefined {
    return this.#refusal
  }

  /** Ask for memory again, though it was refused a moment ago. */
  tryAgain(): void {
    this.#refusedAtMs = Number.NEGATIVE_INFINITY
  }

  /** Take memory until `wanted(resident)` slabs are free. False if it is refused, or there are no slabs left. */
  provide(wanted: (resident: number) => number): boolean {
    while (!this.#isRefused) {
      const { free, resident } = countSlabs(this.#blocks)
      const missing = wanted(resident) - free
      if (missing <= 0) return true
      const step = Math.max(missing, STEP_SLABS_MIN, resident >>> STEP_SHIFT)
      const isMore = this.#attempt(() => this.#take(step)) > 0 || this.#attempt(() => this.#take(missing)) > 0
      if (!isMore) this.#refusedAtMs = nowMs()
    }
    return false
  }

  /** Take memory for a row of `count` slabs that are free, holes, or have never been used. False if there is none. */
  provideRow(count: number): boolean {
    const first = this.#isRefused ? -1 : this.#findRow(count)
    if (first < 0) {
      if (!this.#isRefused) this.#refusal = undefined
      return false
    }
    const end = first + count
    if (this.#attempt(() => this.#fill(first, end, count) + this.#raiseTo(end)) >= 0) return true
    this.#refusedAtMs = nowMs()
    return false
  }

  get #isRefused(): boolean {
    return nowMs() - this.#refusedAtMs < REFUSAL_MS
  }

  /** For how many slabs memory was taken; -1 if it was refused. */
  #attempt(take: () => number): number {
    try {
      const taken = take()
      this.#refusal = undefined
      return taken
    } catch (error) {
      if (!(error instanceof MemoryExhaustedError)) throw error
      this.#refusal = error
      return -1
    }
  }

  /** Memory for up to `count` slabs, first for holes. Returns for how many. */
  #take(count: number): number {
    const { backed } = this.#blocks
    const filled = this.#fill(0, backed, count)
    return filled < count ? filled + this.#raiseTo(backed + count - filled) : filled
  }

  /** Take memory for up to `count` of the holes from `begin` to `end`. Returns for how many. */
  #fill(begin: number, end: number, count: number): number {
    const last = Math.min(end, this.#blocks.backed)
    let filled = 0
    for (let slab = begin; slab < last && filled < count; slab += 1) {
      let next = slab
      while (next < last && filled + next - slab < count && this.#claimHole(next)) next += 1
      if (next === slab) continue
      this.#fillRow(slab, next)
      filled += next - slab
      slab = next - 1
    }
    return filled
  }

  #claimHole(slab: number): boolean {
    const word = this.#blocks.peekWord(slab)
    if (slabKind(word) !== SlabKind.Hole) return false
    return this.#blocks.changeWord(slab, word, slabWord(SlabKind.Bare, this.#slot, 0))
  }

  #fillRow(begin: number, end: number): void {
    let kind: number = SlabKind.Hole
    try {
      this.#takeBlocks(begin, end)
      kind = SlabKind.Free
    } finally {
      for (let slab = begin; slab < end; slab += 1) this.#blocks.setWord(slab, slabWord(kind, 0, 0))
    }
  }

  /** Returns for how many slabs memory was taken. */
  #raiseTo(wanted: number): number {
    const { backed, layout } = this.#blocks
    const end = Math.min(wanted, layout.slabs)
    if (end <= backed) return 0
    this.#backing.take(layout.statesOffset + backed * SLAB_STATES_BYTES, (end - backed) * SLAB_STATES_BYTES)
    this.#takeBlocks(backed, end)
    this.#blocks.raiseBacked(end)
    return end - backed
  }

  #takeBlocks(begin: number, end: number): void {
    this.#backing.take(this.#blocks.layout.slabsOffset + begin * SLAB_BYTES, (end - begin) * SLAB_BYTES)
  }

  /** The first of `count` slabs in a row of which none is in use; -1 if there is no such row. */
  #findRow(count: number): number {
    const { backed, layout } = this.#blocks
    let begin = 0
    for (let slab = 0; slab < backed && slab - begin < count; slab += 1) {
      const kind = slabKind(this.#blocks.peekWord(slab))
      if (kind !== SlabKind.Free && kind !== SlabKind.Hole) begin = slab + 1
    }
    return begin + count <= layout.slabs ? begin : -1
  }
}

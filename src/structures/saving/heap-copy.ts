import { native } from '../../native/index.ts'
import type { BlockTable } from '../heap/block-table.ts'
import type { Heap } from '../heap/heap.ts'
import { GRANULES_PER_SLAB, HeaderOffset, SLAB_BYTES, SLAB_RECORD_BYTES } from '../heap/layout.ts'
import { SlabKind, slabKind } from '../heap/slab-word.ts'
import { LocalMemory } from '../memory/local-memory.ts'

/** Slabs without a block. A hole has no memory. */
const NOTHING_IN_IT: ReadonlySet<number> = new Set([SlabKind.Free, SlabKind.Hole, SlabKind.Bare])
/** Bytes of a slab's block states. */
const STATES_BYTES = GRANULES_PER_SLAB * 4

/** What a copy is read from. It must not be touched in place: a slab may become a hole while it is copied. */
export interface CopySource {
  /** Copy bytes from `offsetBytes` on; a hole reads as zeros. */
  read(offsetBytes: number, target: Uint8Array): void
}

/**
 * A private copy of a heap. It is one of a single instant once {@link compare} finds no difference: the instant before
 * that call. Everything was as it is in the copy before and after it. (A double collect: Afek and others, "Atomic
 * snapshots of shared memory", JACM 1993, section 3.) No block comes back as it was, because its state counts how
 * often it was used. So the copy is what a crash of all processes at that instant would have left, and as whole as
 * that.
 */
export class HeapCopy {
  readonly #heap: Heap
  readonly #source: CopySource
  readonly #bytes: Uint8Array
  /** The longest part, as it is now. */
  readonly #now: Uint8Array

  constructor(heap: Heap, source: CopySource) {
    this.#heap = heap
    this.#source = source
    const [, headBytes] = this.#head
    this.#now = new Uint8Array(Math.max(headBytes, SLAB_BYTES))
    // Pages that are never written take no memory.
    this.#bytes = new Uint8Array(heap.memory.lengthBytes)
  }

  /** As memory of a heap that is used by this thread alone. */
  get memory(): LocalMemory {
    const memory = new LocalMemory(this.#bytes)
    memory.store(HeaderOffset.Gate, 0)
    return memory
  }

  /** Copy all that is in use, in steps. */
  *steps(): Generator<undefined, void> {
    for (const [offset, lengthBytes] of this.#parts()) {
      this.#source.read(offset, this.#bytes.subarray(offset, offset + lengthBytes))
      yield undefined
    }
  }

  /** Copy again what is different from the heap by now. Returns whether anything was. */
  compare(): boolean {
    let differs = false
    for (const [offset, lengthBytes] of this.#parts()) {
      const there = this.#now.subarray(0, lengthBytes)
      this.#source.read(offset, there)
      const here = this.#bytes.subarray(offset, offset + lengthBytes)
      if (Buffer.compare(there, here) === 0) continue
      here.set(there)
      differs = true
    }
    return differs
  }

  get #head(): Part {
    const { recordsOffset, slabs } = this.#heap.blocks.layout
    return [0, recordsOffset + slabs * SLAB_RECORD_BYTES]
  }

  /** Where something is: the words of the heap, and what is in use. */
  *#parts(): Generator<Part, void> {
    yield this.#head
    yield* partsInUse(this.#heap.blocks)
  }
}

/** A part of a heap. */
type Part = readonly [offset: number, lengthBytes: number]

/** For each slab in use its states and itself. */
export function* partsInUse(blocks: BlockTable): Generator<Part, void> {
  const { layout } = blocks
  for (let slab = 0; slab < Math.min(blocks.backed, layout.slabs); slab += 1) {
    if (NOTHING_IN_IT.has(slabKind(blocks.word(slab)))) continue
    yield [layout.statesOffset + slab * STATES_BYTES, STATES_BYTES]
    yield [layout.slabsOffset + slab * SLAB_BYTES, SLAB_BYTES]
  }
}

/**
 * Find one instant for copies of several heaps, whose gates are closed meanwhile. False if they changed all the time,
 * for `withinMs`. On this thread, without a pause: their operations wait.
 */
export function settleCopies(heaps: readonly Heap[], copies: readonly HeapCopy[], withinMs: number): boolean {
  const deadlineNs = native.monotonicNs() + withinMs * 1e6
  // In the order of all others who do this.
  const closed: Heap[] = []
  try {
    for (const heap of heaps) {
      heap.gate.close()
      closed.push(heap)
    }
    do {
      if (!copies.map((copy) => copy.compare()).includes(true)) return true
    } while (native.monotonicNs() < deadlineNs)
    return false
  } finally {
    for (const heap of closed) heap.gate.open()
  }
}

import { native } from '../../native/index.ts'
import type { Heap } from '../heap/heap.ts'
import { GRANULES_PER_SLAB, HeaderOffset, SLAB_BYTES, SLAB_RECORD_BYTES } from '../heap/layout.ts'
import { SlabKind, slabKind } from '../heap/slab-word.ts'
import { LocalMemory } from '../memory/local-memory.ts'

/** Slabs without a block. A hole has no memory. */
const NOTHING_IN_IT: ReadonlySet<number> = new Set([SlabKind.Free, SlabKind.Hole, SlabKind.Bare])
/** Bytes of a slab's block states. */
const STATES_BYTES = GRANULES_PER_SLAB * 4

/**
 * A private copy of a heap. It is one of a single instant once {@link compare} finds no difference: the instant before
 * that call. Everything was as it is in the copy before and after it. (A double collect: Afek and others, "Atomic
 * snapshots of shared memory", JACM 1993, section 3.) No block comes back as it was, because its state counts how
 * often it was used. So the copy is what a crash of all processes at that instant would have left, and as whole as
 * that.
 */
export class HeapCopy {
  readonly #heap: Heap
  readonly #from: Uint8Array
  readonly #bytes: Uint8Array

  constructor(heap: Heap) {
    this.#heap = heap
    this.#from = heap.memory.view(0, heap.memory.lengthBytes)
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
      this.#bytes.set(this.#from.subarray(offset, offset + lengthBytes), offset)
      yield undefined
    }
  }

  /** Copy again what is different from the heap by now. Returns whether anything was. */
  compare(): boolean {
    let differs = false
    for (const [offset, lengthBytes] of this.#parts()) {
      const there = this.#from.subarray(offset, offset + lengthBytes)
      const here = this.#bytes.subarray(offset, offset + lengthBytes)
      if (Buffer.compare(there, here) === 0) continue
      here.set(there)
      differs = true
    }
    return differs
  }

  /** Where something is: the words of the heap, and for each slab in use its states and itself. */
  *#parts(): Generator<readonly [offset: number, lengthBytes: number], void> {
    const { blocks } = this.#heap
    const { layout } = blocks
    yield [0, layout.recordsOffset + layout.slabs * SLAB_RECORD_BYTES]
    for (let slab = 0; slab < blocks.backed; slab += 1) {
      if (NOTHING_IN_IT.has(slabKind(blocks.word(slab)))) continue
      yield [layout.statesOffset + slab * STATES_BYTES, STATES_BYTES]
      yield [layout.slabsOffset + slab * SLAB_BYTES, SLAB_BYTES]
    }
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

import type { Heap } from '../heap/heap.ts'

/** A structure whose contents are read or written as they lie in memory. */
export interface SavedBody {
  readonly heap: Heap
  readonly name: string
  /** Where its body starts, in bytes. */
  readonly offset: number
  /** With what it was made: three numbers, whose meaning its kind knows. */
  readonly parameters: readonly number[]
  readonly clock: SavedClock
}

/** Times in a save are of the wall clock, in milliseconds; those in a heap are of the heap's own clock. */
export class SavedClock {
  readonly #aheadMs: number

  constructor(heap: Heap) {
    this.#aheadMs = Date.now() - heap.nowMs()
  }

  toWall(heapMs: number): number {
    return heapMs + this.#aheadMs
  }

  toHeap(wallMs: number): number {
    return wallMs - this.#aheadMs
  }
}

/** How one kind of structure is saved: as records of bytes, in order. Values stay as their codec wrote them. */
export interface SavedKind {
  /** Bytes of the body of a structure with these parameters. */
  bodyBytes(parameters: readonly number[]): number
  /**
   * Its records. Each step is one short stay in an epoch, so it holds up no other member. Undefined: a step that found
   * nothing, after which the caller may pause as well.
   */
  dump(body: SavedBody): Iterable<Uint8Array | undefined>
  /** Takes the records of a structure, which may have contents already. @throws HeapFullError */
  restore(body: SavedBody): (record: Uint8Array) => void
}

/** Entries that are copied at one step. */
export const STEP_ENTRIES = 256

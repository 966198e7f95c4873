import type { CounterLayout } from './counter-layout.ts'

/** Where a block's slots are. */
export interface BlockPlace {
  readonly slots: Float64Array
  /** False where the area was full: then the slots are those of the rest of the layout, or private. */
  readonly shared: boolean
}

/** Who placed a block. */
export interface BlockOwner {
  close(block: Block): void
}

/**
 * Slots of one thing that is counted, in shared memory with one writer: the thread that made the block.
 * The area may move: take `slots` anew in each use.
 */
export abstract class Block {
  readonly layout: CounterLayout
  /** Which thing it is of; empty where there is one only. */
  readonly label: string
  abstract readonly kind: number
  readonly #owner: BlockOwner | undefined
  #slots: Float64Array
  #shared: boolean

  constructor(layout: CounterLayout, label: string, place: BlockPlace, owner: BlockOwner | undefined) {
    this.layout = layout
    this.label = label
    this.#slots = place.slots
    this.#shared = place.shared
    this.#owner = owner
  }

  /** What is counted, in the order of the layout. Only the owner writes. */
  get slots(): Float64Array {
    return this.#slots
  }

  /** False where the area was full: it counts together with others that found no place. */
  get shared(): boolean {
    return this.#shared
  }

  /** @internal */
  moveTo(place: BlockPlace): void {
    this.#slots = place.slots
    this.#shared = place.shared
  }

  /**
   * What was counted has ended: the figures go into the rest of the layout, the place is given back. What is counted
   * afterwards nobody sees. Idempotent.
   */
  close(): void {
    this.#owner?.close(this)
  }
}

import type { CounterLayout } from './counter-layout.ts'

/** The place of a block's slots. */
export interface BlockPlace {
  readonly slots: Float64Array
  /** False if the area was full. The slots are then those of the rest of the layout, or private. */
  readonly shared: boolean
}

/** The owner of a block's place. */
export interface BlockOwner {
  close(block: Block): void
}

/**
 * Slots of one counted object, in shared memory with one writer: the thread that made the block. The area may move, so
 * read `slots` again for each use.
 */
export abstract class Block {
  readonly layout: CounterLayout
  /** Which object it counts; empty if there is only one. */
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

  /** The counts in the order of the layout. Only the owner writes. */
  get slots(): Float64Array {
    return this.#slots
  }

  /** False if the area was full: the block then counts together with others that found no place. */
  get shared(): boolean {
    return this.#shared
  }

  /** @internal */
  moveTo(place: BlockPlace): void {
    this.#slots = place.slots
    this.#shared = place.shared
  }

  /**
   * End counting: the figures are added to the rest of the layout, and the place is freed. Later counts are lost.
   * Idempotent.
   */
  close(): void {
    this.#owner?.close(this)
  }
}

import { type Heap, offsetOf } from '../heap/heap.ts'
import { Reach } from '../heap/reach.ts'
import { noteLinked } from '../list/node.ts'

/** Bytes of a cell's body: the reference of its version. */
export const CELL_BODY_BYTES = 64

/**
 * A version of what is in a cell; after it was assigned it never changes.
 *
 * ```
 *  0 linked   4 length of the value   8 version, Float64   16 value
 * ```
 */
const VersionOffset = { Linked: 0, Length: 4, Version: 8, Value: 16 } as const

/** The word that names the present version. The process that replaces a version retires it. */
export class CellCore {
  readonly #heap: Heap
  readonly #place: number

  constructor(heap: Heap, place: number) {
    this.#heap = heap
    this.#place = place
  }

  /**
   * The present version's block, 0 before the first. Stays what it is until the end of the section, or operation, in
   * which this is called.
   */
  load(): number {
    return this.#heap.memory.load(this.#place)
  }

  /** Which version a block is, from 1 on. */
  versionOf(block: number): number {
    return block === 0 ? 0 : this.#heap.memory.peekFloat(offsetOf(block) + VersionOffset.Version)
  }

  /** The value's bytes where they lie. */
  viewOf(block: number): Uint8Array {
    const { memory } = this.#heap
    return memory.view(offsetOf(block) + VersionOffset.Value, memory.peek(offsetOf(block) + VersionOffset.Length))
  }

  /** A copy of the value's bytes. */
  copyOf(block: number): Uint8Array {
    const { memory } = this.#heap
    return memory.copy(offsetOf(block) + VersionOffset.Value, memory.peek(offsetOf(block) + VersionOffset.Length))
  }

  /**
   * Replace the present version, which must be `expected` if that is given. Returns the new number; 0 if the version
   * was another. `essential`: see {@link Heap.allocate}. @throws HeapFullError
   */
  assign(value: Uint8Array, expected?: number, essential: boolean = false): number {
    const { memory, intent, epochs } = this.#heap
    intent.begin(this.#place, Reach.Cell)
    const { reference } = this.#heap.allocate(VersionOffset.Value + value.length, essential)
    const at = offsetOf(reference)
    memory.poke(at + VersionOffset.Linked, 0)
    memory.poke(at + VersionOffset.Length, value.length)
    memory.write(at + VersionOffset.Value, value, value.length)
    epochs.enter()
    try {
      const version = this.#replace(reference, expected)
      if (version !== 0) return version
    } finally {
      epochs.exit()
    }
    this.#heap.release(reference)
    intent.end()
    return 0
  }

  /** The one access that takes effect. */
  #replace(block: number, expected: number | undefined): number {
    const { memory, intent, epochs, blocks } = this.#heap
    for (;;) {
      const old = memory.load(this.#place)
      const before = this.versionOf(old)
      if (expected !== undefined && before !== expected) return 0
      memory.pokeFloat(offsetOf(block) + VersionOffset.Version, before + 1)
      const oldState = old === 0 ? 0 : blocks.state(old)
      if (old !== 0) noteLinked(this.#heap, old)
      intent.arm(old, oldState, 0, 0, 0)
      if (memory.compareExchange(this.#place, old, block) === old) {
        if (old !== 0) epochs.retire(old, oldState)
        intent.end()
        return before + 1
      }
      intent.disarm()
    }
  }
}

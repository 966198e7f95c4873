import type { BlockAllocator } from './block-allocator.ts'
import type { UndoMemory } from './undo-memory.ts'

/** Up to this many characters a loop is faster than a call of the engine's encoder. */
const LOOP_LENGTH_MAX = 24

/** Texts in blocks: the length in bytes, then UTF-8. The reference 0 stands for no text. */
export class Texts {
  readonly #memory: UndoMemory
  readonly #allocator: BlockAllocator

  constructor(memory: UndoMemory, allocator: BlockAllocator) {
    this.#memory = memory
    this.#allocator = allocator
  }

  add(text: string): number {
    const length = Buffer.byteLength(text)
    const at = this.#allocator.allocate(4 + length)
    this.#memory.freshWord(at, length)
    this.write(at + 4, text, length)
    return at
  }

  get(at: number): string {
    return this.read(at + 4, this.#memory.word(at))
  }

  /** Write to a block that this transaction has allocated. */
  write(at: number, text: string, length: number): void {
    const { bytes } = this.#memory
    if (length > LOOP_LENGTH_MAX || length !== text.length) bytes.write(text, at, length)
    else for (let index = 0; index < length; index += 1) bytes[at + index] = text.charCodeAt(index)
  }

  read(at: number, length: number): string {
    return this.#memory.bytes.toString('utf8', at, at + length)
  }

  free(at: number): void {
    if (at !== 0) this.#allocator.free(at)
  }

  /** Replace the text whose reference is at `place`; undefined: none. */
  replace(place: number, text: string | undefined): void {
    this.free(this.#memory.word(place))
    this.#memory.setWord(place, text === undefined ? 0 : this.add(text))
  }

  /** The text whose reference is at `place`. */
  at(place: number): string | undefined {
    const reference = this.#memory.word(place)
    return reference === 0 ? undefined : this.get(reference)
  }
}

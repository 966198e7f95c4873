import type { Codec } from '../../codecs/index.ts'
import type { WordMemory } from '../memory/word-memory.ts'

/** Where a value is copied to. */
export interface ValueCopy {
  /** Copy the value of `lengthBytes` bytes at `offset`. */
  copy(offset: number, lengthBytes: number): void
}

/**
 * Takes values out of shared memory in two steps: {@link copy} while they are sure not to change, then {@link decode}.
 * A codec is the user's code, so it runs after the copy. Bytes that a codec adopts are copied once. For other codecs
 * the same memory is used again and again.
 */
export class ValueReader<V> implements ValueCopy {
  readonly #memory: WordMemory
  readonly #codec: Codec<V>
  readonly #adopts: boolean
  #scratch: Uint8Array = new Uint8Array(1024)
  /**
   * The value's bytes: memory of its own, or the start of the scratch memory. It is made again only if the length
   * differs.
   */
  #bytes: Uint8Array = this.#scratch

  constructor(memory: WordMemory, codec: Codec<V>) {
    this.#memory = memory
    this.#codec = codec
    this.#adopts = codec.adopt !== undefined
  }

  copy(offset: number, lengthBytes: number): void {
    if (this.#adopts) {
      this.#bytes = this.#memory.copy(offset, lengthBytes)
      return
    }
    if (lengthBytes > this.#scratch.length) this.#grow(lengthBytes * 2)
    if (this.#bytes.length !== lengthBytes) this.#bytes = this.#scratch.subarray(0, lengthBytes)
    this.#memory.read(offset, this.#scratch, lengthBytes)
  }

  #grow(lengthBytes: number): void {
    this.#scratch = new Uint8Array(lengthBytes)
    this.#bytes = this.#scratch
  }

  /** What was copied last, decoded. */
  decode(): V {
    return this.#adopts ? this.#codec.adopt!(this.#bytes) : this.#codec.decode(this.#bytes)
  }
}

import type { Codec } from '../codec/codec.ts'
import { StructureError } from '../errors.ts'
import type { Heap } from '../heap/heap.ts'
import { CellCore } from './cell-core.ts'

/** Options of `cell()`. */
export interface CellOptions<V> {
  /** How values become bytes. Default `structured`. The same for all who open it. */
  readonly codec?: Codec<V>
  /** The longest value that this process assigns, in bytes, encoded. Default 1 MiB. */
  readonly valueBytesMax?: number
}

/** Something that is read often and replaced seldom, as a whole: a configuration, a table. Used by {@link Rcu}; made by {@link Structures.cell}. */
export class RcuCell<V> {
  readonly name: string
  readonly #core: CellCore
  readonly #codec: Codec<V>
  readonly #valueBytesMax: number
  /** The value that was decoded last, and of which version. */
  #version = 0
  #value: V | undefined

  /** @internal */
  constructor(name: string, heap: Heap, offset: number, codec: Codec<V>, valueBytesMax: number) {
    this.name = name
    this.#core = new CellCore(heap, offset)
    this.#codec = codec
    this.#valueBytesMax = valueBytesMax
  }

  /** @internal Decoded once for each version. */
  read(): { readonly version: number; readonly value: V | undefined } {
    const block = this.#core.load()
    const version = this.#core.versionOf(block)
    if (version !== this.#version) {
      this.#value = this.#codec.decode(this.#core.copyOf(block))
      this.#version = version
    }
    return { version, value: this.#value }
  }

  /** @internal */
  view(): Uint8Array | undefined {
    const block = this.#core.load()
    return block === 0 ? undefined : this.#core.viewOf(block)
  }

  /** @internal */
  assign(value: V, expected?: number): number {
    const bytes = this.#codec.encode(value)
    if (bytes.length <= this.#valueBytesMax) return this.#core.assign(bytes, expected)
    const limit = `'${this.name}' takes ${this.#valueBytesMax} (options.valueBytesMax)`
    const why = `a value of ${bytes.length} bytes, encoded; ${limit}`
    throw new StructureError('ERR_AETHER_VALUE_TOO_LARGE', this.name, why)
  }
}

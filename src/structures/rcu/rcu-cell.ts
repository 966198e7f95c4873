import { type Codec, decodeOwn } from '../../codecs/index.ts'
import type { OptionNames } from '../../native/index.ts'
import type { Meter } from '../figures/meter.ts'
import type { Heap } from '../heap/heap.ts'
import { encodeValue, type ValueSettings } from '../values/value-settings.ts'
import { CellCore } from './cell-core.ts'

/** Options of `cell()`. */
export interface CellOptions<V> {
  /** How values become bytes. Default `structured`. All openers must agree. */
  readonly codec?: Codec<V>
  /** The longest value that this process assigns, in bytes when encoded. Default 1 MiB. */
  readonly valueBytesMax?: number
}

export const cellNames: OptionNames<CellOptions<unknown>> = { codec: true, valueBytesMax: true }

/**
 * A value that is read often and replaced seldom, as a whole: a configuration, a table. Used by {@link Rcu}; made by
 * {@link Structures.cell}.
 */
export class RcuCell<V> {
  readonly name: string
  /** @internal */
  readonly heap: Heap
  readonly #core: CellCore
  readonly #meter: Meter
  readonly #settings: ValueSettings<V>
  /** The version of the value that was decoded last, and the value. */
  #version = 0
  #value: V | undefined

  /** @internal */
  constructor(name: string, heap: Heap, offset: number, settings: ValueSettings<V>) {
    this.name = name
    this.heap = heap
    this.#core = new CellCore(heap, offset)
    this.#meter = heap.meters.of('rcu cell', name)
    this.#settings = settings
  }

  /** @internal Decoded once for each version. */
  read(): { readonly version: number; readonly value: V | undefined } {
    this.#meter.read()
    const block = this.#core.load()
    const version = this.#core.versionOf(block)
    if (version !== this.#version) {
      this.#value = decodeOwn(this.#settings.codec, this.#core.copyOf(block))
      this.#version = version
    }
    return { version, value: this.#value }
  }

  /** @internal */
  view(): Uint8Array | undefined {
    this.#meter.read()
    const block = this.#core.load()
    return block === 0 ? undefined : this.#core.viewOf(block)
  }

  /** @internal */
  assign(value: V, expected?: number): number {
    this.#meter.wrote()
    return this.#core.assign(encodeValue(this.#settings, this.name, value), expected)
  }
}

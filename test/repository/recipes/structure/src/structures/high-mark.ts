import { checkAbort, checkWhole } from '../native/index.ts'
import type { Meter } from './figures/meter.ts'
import type { Heap } from './heap/heap.ts'
import type { WaitOptions } from './waiting/wait-options.ts'

/** Bytes of a high mark's body. */
export const HIGH_MARK_BYTES = 64

/** The highest number that any process has reported; 0 before the first. */
export class HighMark {
  readonly name: string
  readonly #heap: Heap
  readonly #meter: Meter
  readonly #offset: number

  /** @internal */
  constructor(name: string, heap: Heap, offset: number) {
    this.name = name
    this.#heap = heap
    this.#meter = heap.meters.of('high mark', name)
    this.#offset = offset
  }

  /** Report a number. Resolves with the highest one. */
  async raise(value: number, options?: WaitOptions): Promise<number> {
    checkAbort('raise', options)
    return this.raiseSync(value)
  }

  raiseSync(value: number): number {
    this.#heap.checkOpen()
    checkWhole('value', value, 0, Number.MAX_SAFE_INTEGER)
    this.#meter.wrote()
    const { memory } = this.#heap
    for (;;) {
      const there = memory.load64(this.#offset)
      if (there >= value) return Number(there)
      if (memory.compareExchange64(this.#offset, there, BigInt(value)) === there) return value
    }
  }
}

import { checkAbort, checkWhole } from '../native/index.ts'
import type { Meter } from './figures/meter.ts'
import type { Heap } from './heap/heap.ts'
import type { WaitOptions } from './waiting/wait-options.ts'

/** Bytes of a sequence's body. */
export const SEQUENCE_BYTES = 64
const TAKEN_MAX = 2 ** 32

/** Numbers that are given out once each, from 1. A number that a killed process took is not given out again. */
export class Sequence {
  readonly name: string
  readonly #heap: Heap
  readonly #meter: Meter
  readonly #offset: number

  /** @internal */
  constructor(name: string, heap: Heap, offset: number) {
    this.name = name
    this.#heap = heap
    this.#meter = heap.meters.of('sequence', name)
    this.#offset = offset
  }

  /** The next number; with `count`, the first of that many in a row. */
  async next(count: number = 1, options?: WaitOptions): Promise<number> {
    checkAbort('next', options)
    return this.nextSync(count)
  }

  nextSync(count: number = 1): number {
    this.#heap.checkOpen()
    checkTaken(count)
    this.#meter.wrote()
    return Number(this.#heap.memory.fetchAdd64(this.#offset, BigInt(count))) + 1
  }

  /** The number given out last; 0 before the first. */
  async last(options?: WaitOptions): Promise<number> {
    checkAbort('last', options)
    return this.lastSync()
  }

  lastSync(): number {
    this.#heap.checkOpen()
    this.#meter.read()
    return Number(this.#heap.memory.load64(this.#offset))
  }
}

/** @throws ArgumentError unless this many numbers can be taken at once. */
export function checkTaken(count: number): void {
  checkWhole('count', count, 1, TAKEN_MAX)
}

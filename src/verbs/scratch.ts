import { Access, Errno, VerbsError } from '../providers/index.ts'
import type { MemoryDomain, MemoryRegion, MemorySlice } from './memory-region.ts'

/** Eight registered bytes that receive the old value of an atomic. */
export interface ScratchCell {
  readonly slice: MemorySlice
  /** The old value. Read it in the same turn of the event loop in which the operation settled. */
  value(): bigint
  readonly giveBack: () => void
}

/**
 * The cells of one queue pair, one for each request that can be outstanding. A cell is released when its operation
 * completes, never earlier.
 */
export class Scratch {
  readonly #memory: MemoryRegion
  readonly #values: BigUint64Array
  readonly #free: number[]

  constructor(domain: MemoryDomain, cells: number) {
    this.#memory = domain.allocate(cells * 8, Access.LocalWrite)
    const { buffer, byteOffset } = this.#memory.bytes
    this.#values = new BigUint64Array(buffer, byteOffset, cells)
    this.#free = Array.from({ length: cells }, (_, index) => index)
  }

  take(): ScratchCell {
    const index = this.#free.pop()
    if (index === undefined)
      throw new VerbsError(
        'ibv_post_send',
        Errno.ENOMEM,
        'the send queue is full of atomics in flight; wait for one, or raise maxSendRequests',
      )
    let value = 0n
    const giveBack = (): void => {
      value = this.#values[index]!
      this.#free.push(index)
    }
    return { slice: this.#memory.subarray(index * 8, index * 8 + 8), value: () => value, giveBack }
  }

  close(): void {
    this.#memory.close()
  }
}

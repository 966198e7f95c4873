import { ArgumentError, shown } from '../native/index.ts'
import type { MemoryRegion } from './memory-region.ts'

/** A segment of a request by numbers. `bytes` is needed if the request is inline. */
export interface Segment {
  readonly address: number
  readonly length: number
  readonly key: number
  readonly bytes?: Uint8Array
}

/** A part of a memory region, usable as a segment of a request. */
export class MemorySlice implements Segment {
  readonly memory: MemoryRegion
  readonly offset: number
  readonly length: number

  /** @internal Made by {@link MemoryRegion.subarray}. */
  constructor(memory: MemoryRegion, begin: number, end: number) {
    if (!Number.isSafeInteger(begin) || !Number.isSafeInteger(end) || begin < 0 || end < begin || end > memory.length) {
      throw new ArgumentError(
        'begin, end',
        `begin and end must be a range within the region's ${memory.length} bytes, not ${shown(begin)} and ${shown(end)}`,
      )
    }
    this.memory = memory
    this.offset = begin
    this.length = end - begin
  }

  get address(): number {
    return this.memory.address + this.offset
  }

  get key(): number {
    return this.memory.localKey
  }

  /** The remote target for a peer that reads or writes this part. */
  get token(): { readonly address: number; readonly length: number; readonly key: number } {
    return { address: this.address, length: this.length, key: this.memory.remoteKey }
  }

  get bytes(): Uint8Array {
    return this.memory.bytes.subarray(this.offset, this.offset + this.length)
  }
}

import { randomBytes } from 'node:crypto'
import { native } from '../../native/index.ts'
import type { Gid } from '../gid.ts'
import { encodeGid } from './gid.ts'
import {
  FIXED_BYTES,
  HeaderWord,
  KEYS_OFFSET,
  PAGE_BYTES,
  QUEUES_OFFSET,
  SEGMENT_MAGIC,
  SEGMENT_VERSION,
  SegmentState,
  VISITORS_OFFSET,
} from './layout.ts'

import { pipeInode } from './pipe.ts'

/** The segment of a device opened here: its memory object, and the fixed part of it, mapped. */
export class Segment {
  readonly descriptor: number
  readonly gid: Gid
  readonly buffer: ArrayBuffer
  readonly header: Int32Array
  readonly directory: Int32Array
  readonly queues: Int32Array
  readonly keys: Int32Array
  readonly keyDoubles: Float64Array
  readonly visitors: Int32Array
  readonly visitorLongs: BigInt64Array
  #pages: number = FIXED_BYTES / PAGE_BYTES

  constructor(doorbell: number) {
    this.descriptor = native.createMemory('aether-verbs', FIXED_BYTES, 0)
    try {
      this.buffer = native.mapMemory(this.descriptor, 0, FIXED_BYTES, 0)
    } catch (error) {
      native.closeDescriptor(this.descriptor)
      throw error
    }
    const views = fixedViews(this.buffer)
    this.header = views.header
    this.directory = views.directory
    this.queues = views.queues
    this.keys = views.keys
    this.keyDoubles = views.keyDoubles
    this.visitors = views.visitors
    this.visitorLongs = views.visitorLongs
    const nonce = new Uint32Array(Uint8Array.from(randomBytes(8)).buffer)
    const nonceLow = nonce[0]!
    const nonceHigh = nonce[1]!
    this.gid = encodeGid({ processId: process.pid, descriptor: this.descriptor, nonceLow, nonceHigh })
    this.header[HeaderWord.Version] = SEGMENT_VERSION
    this.header[HeaderWord.NonceLow] = nonceLow
    this.header[HeaderWord.NonceHigh] = nonceHigh
    this.header[HeaderWord.ProcessId] = process.pid
    this.header[HeaderWord.Doorbell] = doorbell
    this.header[HeaderWord.DoorbellInode] = pipeInode(doorbell)
    this.header[HeaderWord.State] = SegmentState.Open
    Atomics.store(this.header, HeaderWord.Magic, SEGMENT_MAGIC)
  }

  /** Take fresh zeroed pages at the end. Returns the first page. Pages are never reused. */
  allocatePages(count: number): number {
    const first = this.#pages
    native.resizeMemory(this.descriptor, (first + count) * PAGE_BYTES)
    native.reserveMemory(this.descriptor, first * PAGE_BYTES, count * PAGE_BYTES)
    this.#pages = first + count
    return first
  }

  mapPages(first: number, count: number): ArrayBuffer {
    return native.mapMemory(this.descriptor, first * PAGE_BYTES, count * PAGE_BYTES, 0)
  }

  /** Give the memory of pages back. Peers that still map them read zeros: state 0 of epoch 0. */
  releasePages(first: number, count: number): void {
    native.releaseMemory(this.descriptor, first * PAGE_BYTES, count * PAGE_BYTES)
  }

  close(): void {
    Atomics.store(this.header, HeaderWord.State, SegmentState.Closed)
    native.unmapMemory(this.buffer)
    native.releaseMemory(this.descriptor, PAGE_BYTES, (this.#pages - 1) * PAGE_BYTES)
    native.closeDescriptor(this.descriptor)
  }
}

export type FixedViews = Pick<
  Segment,
  'header' | 'directory' | 'queues' | 'keys' | 'keyDoubles' | 'visitors' | 'visitorLongs'
>

/** The tables of a mapped segment, this device's or a peer's. */
export function fixedViews(buffer: ArrayBuffer): FixedViews {
  return {
    header: new Int32Array(buffer, 0, PAGE_BYTES / 4),
    directory: new Int32Array(buffer, PAGE_BYTES, (QUEUES_OFFSET - PAGE_BYTES) / 4),
    queues: new Int32Array(buffer, QUEUES_OFFSET, (KEYS_OFFSET - QUEUES_OFFSET) / 4),
    keys: new Int32Array(buffer, KEYS_OFFSET, (VISITORS_OFFSET - KEYS_OFFSET) / 4),
    keyDoubles: new Float64Array(buffer, KEYS_OFFSET, (VISITORS_OFFSET - KEYS_OFFSET) / 8),
    visitors: new Int32Array(buffer, VISITORS_OFFSET, (FIXED_BYTES - VISITORS_OFFSET) / 4),
    visitorLongs: new BigInt64Array(buffer, VISITORS_OFFSET, (FIXED_BYTES - VISITORS_OFFSET) / 8),
  }
}

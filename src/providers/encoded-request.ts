/**
 * A work request as 8-byte slots in one buffer: encoded once, patched in place, posted without allocating.
 *
 * ```
 * slot 0 id | 1 opcode | 2 flags | 3 remote address | 4 remote key | 5 immediate, or the key to invalidate
 *        | 6 compare or add | 7 swap
 *      8 segment count | 9 address handle | 10 remote queue pair | 11 queue key | 12..15 by opcode
 *             | 16.. segments: address, length, key
 *
 * BindMemoryWindow       3 address | 4 new remote key | 12 window token | 13 memory token | 14 length | 15 access
 * LocalInvalidate        5 key
 * ConfigureIndirectKey   12 indirect key's token | 13 repeat count, 0 for a list | 15 access | the pieces are the
 *                        segments; of interleaved ones
 *                        the bytes to skip follow the last segment, one slot each
 * MaskedCompareSwap      6 compare | 7 swap | 12 compare mask | 13 swap mask
 * MaskedFetchAdd         6 add | 12 field boundaries
 * `dci`                  14 access key of the target
 * ```
 * An address handle is its provider's token. For XRC the remote queue pair is the remote shared receive queue.
 * Slots are doubles (exact below 2^53); the operands of atomics and their masks are 64-bit integers read through
 * `bits`. A native provider is handed the buffer as it is.
 */
export const RequestSlot = {
  Id: 0,
  Opcode: 1,
  Flags: 2,
  RemoteAddress: 3,
  RemoteKey: 4,
  Immediate: 5,
  CompareAdd: 6,
  Swap: 7,
  SegmentCount: 8,
  AddressHandle: 9,
  RemoteQueuePair: 10,
  QueueKey: 11,
  Window: 12,
  Memory: 13,
  Length: 14,
  Access: 15,
  /** ConfigureIndirectKey */
  IndirectKey: 12,
  RepeatCount: 13,
  /** Masked atomics */
  CompareMask: 12,
  BoundaryMask: 12,
  SwapMask: 13,
  /** As `bits`; `dci` only. */
  AccessKey: 14,
  Segments: 16,
} as const

/** Slots of one segment. */
export const SEGMENT_SLOTS = 3

/** Where segment `index` starts. */
export function segmentSlot(index: number): number {
  return RequestSlot.Segments + index * SEGMENT_SLOTS
}

/** Bytes of all segments of a request. */
export function lengthOf(words: Float64Array): number {
  const segments = words[RequestSlot.SegmentCount]!
  let length = 0
  for (let index = 0; index < segments; index += 1) length += words[segmentSlot(index) + 1]!
  return length
}

/**
 * The buffer of a request, its two views, and the objects that must not be garbage-collected while the request lives.
 */
export class EncodedRequest {
  /** What a native provider receives. */
  readonly buffer: ArrayBuffer
  readonly words: Float64Array
  readonly bits: BigUint64Array
  readonly segmentCapacity: number
  /** The bytes of inline segments: read at post, so never registered. Parallel to the segments. */
  readonly sources: (Uint8Array | undefined)[]
  /** A view on the last source of a copy. Providers that copy in JavaScript keep it to avoid making one per post. */
  view: Uint8Array | undefined = undefined
  viewOwner: Uint8Array | undefined = undefined
  viewOffset = -1

  constructor(segmentCapacity: number) {
    this.buffer = new ArrayBuffer(8 * segmentSlot(segmentCapacity))
    this.words = new Float64Array(this.buffer)
    this.bits = new BigUint64Array(this.buffer)
    this.segmentCapacity = segmentCapacity
    this.sources = new Array<Uint8Array | undefined>(segmentCapacity).fill(undefined)
  }

  setSegment(index: number, address: number, length: number, key: number): void {
    const at = segmentSlot(index)
    this.words[at] = address
    this.words[at + 1] = length
    this.words[at + 2] = key
  }

  copyFrom(other: EncodedRequest): void {
    this.words.set(other.words.length > this.words.length ? other.words.subarray(0, this.words.length) : other.words)
    this.bits[RequestSlot.CompareAdd] = other.bits[RequestSlot.CompareAdd]!
    this.bits[RequestSlot.Swap] = other.bits[RequestSlot.Swap]!
    this.bits[RequestSlot.CompareMask] = other.bits[RequestSlot.CompareMask]!
    this.bits[RequestSlot.SwapMask] = other.bits[RequestSlot.SwapMask]!
  }
}

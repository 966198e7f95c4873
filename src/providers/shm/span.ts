import { native, SystemError } from '../../native/index.ts'
import type { EncodedRequest } from '../encoded-request.ts'

const NO_WORDS = new BigInt64Array(0)
const NO_BYTES = new Uint8Array(0)
const PROBE = new Uint8Array(1)
/** The size of the buffer for copies from one foreign process to another. */
const BOUNCE_BYTES = 1 << 16

/**
 * Memory to copy from or to: mapped here, or (`processId` not 0) private memory of another process.
 * `words` is the same memory by 8 bytes where it is aligned, else empty.
 */
export class Span {
  readonly bytes: Uint8Array
  readonly words: BigInt64Array
  readonly processId: number
  /** The address of the first byte, in the process that holds it. */
  readonly address: number

  /** For keys that stand for parts of other memory. */
  static readonly nowhere: Span = new Span(NO_BYTES, -1, 0)

  constructor(bytes: Uint8Array, processId: number, address: number) {
    this.bytes = bytes
    this.processId = processId
    this.address = address
    const aligned = processId === 0 && bytes.byteOffset % 8 === 0
    this.words = aligned ? new BigInt64Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 8)) : NO_WORDS
  }

  static foreign(processId: number, address: number): Span {
    return new Span(NO_BYTES, processId, address)
  }

  /** True if the process that holds it has pages at both ends of the range. For memory whose pages may be missing. */
  isThere(offset: number, length: number): boolean {
    if (this.processId === 0) return true
    try {
      native.readProcess(this.processId, this.address + offset, PROBE)
      native.readProcess(this.processId, this.address + offset + length - 1, PROBE)
      return true
    } catch (error) {
      if (error instanceof SystemError) return false
      throw error
    }
  }
}

/** Up to here a loop is faster than calling the engine's copy. */
const LOOP_BYTES = 64

/**
 * Copy between spans. Aligned 8 bytes go in one store, so that a reader never sees half of them; longer copies promise
 * nothing about order. `request` remembers the view of its source from one post to the next. Throws SystemError if a
 * foreign process cannot be reached.
 */
export function copySpan(
  target: Span,
  to: number,
  source: Span,
  from: number,
  length: number,
  request: EncodedRequest,
): void {
  if (target.processId !== 0 || source.processId !== 0) copyForeign(target, to, source, from, length)
  else if (
    ((to | from | length) & 7) === 0 &&
    length <= LOOP_BYTES &&
    target.words.length > 0 &&
    source.words.length > 0
  ) {
    // Shifts, not divisions, make these integers, and so the loop's index too. No region is longer than 2^32 bytes.
    copyWords(target.words, to >>> 3, source.words, from >>> 3, length >>> 3)
  } else if (length <= LOOP_BYTES) copyBytes(target.bytes, to >>> 0, source.bytes, from >>> 0, length)
  else target.bytes.set(sourceView(source.bytes, from, length, request), to)
}

function copyWords(target: BigInt64Array, to: number, source: BigInt64Array, from: number, count: number): void {
  for (let index = 0; index < count; index += 1) target[to + index] = source[from + index]!
}

function copyBytes(target: Uint8Array, to: number, source: Uint8Array, from: number, length: number): void {
  for (let index = 0; index < length; index += 1) target[to + index] = source[from + index]!
}

function sourceView(bytes: Uint8Array, from: number, length: number, request: EncodedRequest): Uint8Array {
  const cached = request.view
  if (cached !== undefined && request.viewOwner === bytes && request.viewOffset === from && cached.length === length)
    return cached
  const view = bytes.subarray(from, from + length)
  request.view = view
  request.viewOwner = bytes
  request.viewOffset = from
  return view
}

function copyForeign(target: Span, to: number, source: Span, from: number, length: number): void {
  if (target.processId === 0)
    native.readProcess(source.processId, source.address + from, target.bytes.subarray(to, to + length))
  else if (source.processId === 0)
    native.writeProcess(target.processId, target.address + to, source.bytes.subarray(from, from + length))
  else bounce(target, to, source, from, length)
}

function bounce(target: Span, to: number, source: Span, from: number, length: number): void {
  const bytes = new Uint8Array(Math.min(length, BOUNCE_BYTES))
  for (let done = 0; done < length; done += bytes.length) {
    const part = bytes.subarray(0, Math.min(bytes.length, length - done))
    native.readProcess(source.processId, source.address + from + done, part)
    native.writeProcess(target.processId, target.address + to + done, part)
  }
}

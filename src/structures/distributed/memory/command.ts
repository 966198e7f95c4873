/**
 * What is done to the memory of a home, one verb each. Several go in one batch, and are carried out in order, with one
 * exception in the RDMA ordering rules (InfiniBand specification, volume 1, 10.8.3.3). What changes memory does not
 * wait for READs and atomics before it. So a batch never has a WRITE, a compare-and-swap or an addition behind a READ
 * whose place it changes.
 */
export type Command = ReadCommand | WriteCommand | CompareExchangeCommand | FetchAddCommand

/** READ: bytes as they were there, line by line of 64; only what lies in 8 aligned bytes is of one moment. */
export class ReadCommand {
  readonly kind = 'read'
  readonly offset: number
  readonly length: number
  /** What was there; a copy. Empty until the batch has been carried out. */
  bytes: Uint8Array = NOTHING

  constructor(offset: number, length: number) {
    this.offset = offset
    this.length = length
  }

  /** The 64-bit word at `at` of what was read. */
  word(at = 0): bigint {
    return new DataView(this.bytes.buffer, this.bytes.byteOffset + at, 8).getBigUint64(0, true)
  }
}

/** WRITE of bytes that no other rank writes. They are copied when the batch begins. */
export class WriteCommand {
  readonly kind = 'write'
  readonly offset: number
  readonly bytes: Uint8Array

  constructor(offset: number, bytes: Uint8Array) {
    this.offset = offset
    this.bytes = bytes
  }

  get length(): number {
    return this.bytes.length
  }
}

/** Compare-and-swap of a 64-bit word: it was swapped where `before` equals `expected`. */
export class CompareExchangeCommand {
  readonly kind = 'compareExchange'
  readonly length = 8
  readonly offset: number
  readonly expected: bigint
  readonly desired: bigint
  before = 0n

  constructor(offset: number, expected: bigint, desired: bigint) {
    this.offset = offset
    this.expected = expected
    this.desired = desired
  }

  get swapped(): boolean {
    return this.before === this.expected
  }
}

/** Fetch-and-add on a 64-bit word; it wraps. */
export class FetchAddCommand {
  readonly kind = 'fetchAdd'
  readonly length = 8
  readonly offset: number
  readonly amount: bigint
  before = 0n

  constructor(offset: number, amount: bigint) {
    this.offset = offset
    this.amount = amount
  }
}

const NOTHING = new Uint8Array(0)

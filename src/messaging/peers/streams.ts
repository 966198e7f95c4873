/** A stretch of memory that is being sent, or filled. */
interface Stretch {
  readonly bytes: Uint8Array
  at: number
}

/** What a stream is begun with. */
export interface OutgoingStreamOptions {
  /** The kind of its frames. */
  readonly kind: number
  readonly sequence: number
  readonly signature: number
  readonly group: number
  /** Bytes in all. */
  readonly total: number
  /** Up to here the receiver has room. */
  readonly limit: number
  /** Called with how many ranges have been copied into the ring, so that their memory may be used again. */
  readonly sent: (ranges: number) => void
}

/** What one rank sends to another in one collective: the ranges of its schedule in order. Or a message of a program. */
export class OutgoingStream {
  readonly kind: number
  readonly sequence: number
  readonly signature: number
  readonly group: number
  readonly total: number
  readonly sent: (ranges: number) => void
  readonly #stretches: Stretch[] = []
  #limit: number
  #queued = 0
  #sent = 0
  /** True if it is in the queue of its channel. */
  waiting = false

  constructor({ kind, sequence, signature, group, total, limit, sent }: OutgoingStreamOptions) {
    this.kind = kind
    this.sequence = sequence
    this.signature = signature
    this.group = group
    this.total = total
    this.#limit = limit
    this.sent = sent
  }

  /** How many bytes may leave now. */
  get ready(): number {
    return Math.min(this.#limit, this.#queued) - this.#sent
  }

  /** True if bytes wait for the receiver, or for room on the way to it. */
  get unsent(): boolean {
    return this.#queued > this.#sent
  }

  /** True if all of it has left. */
  get complete(): boolean {
    return this.#sent === this.total
  }

  queue(bytes: Uint8Array): void {
    this.#stretches.push({ bytes, at: 0 })
    this.#queued += bytes.length
  }

  grant(limit: number): void {
    if (limit > this.#limit) this.#limit = limit
  }

  /** Send nothing more of it. */
  stop(): void {
    this.#queued = this.#sent
  }

  /** Copy the next `length` bytes, at most `ready`, to `at` of a ring. Returns how many ranges ended. */
  take(ring: Uint8Array, at: number, length: number): number {
    let ended = 0
    this.#sent += length
    for (let left = length; left > 0; ) {
      const stretch = this.#stretches[0]!
      const part = Math.min(left, stretch.bytes.length - stretch.at)
      copyBytes(stretch.bytes, stretch.at, ring, at + length - left, part)
      stretch.at += part
      left -= part
      if (stretch.at < stretch.bytes.length) continue
      this.#stretches.shift()
      ended += 1
    }
    return ended
  }
}

/** What one rank receives from another in one collective. */
export class IncomingPieces {
  readonly total: number
  readonly #stretches: Stretch[] = []
  /** What came before there was a place for it; never more than was granted. */
  readonly #early: Stretch[] = []
  #posted = 0
  #received = 0
  /** Up to here the sender was told that there is room. */
  #granted: number
  readonly #eager: number

  constructor(total: number, eager: number) {
    this.total = total
    this.#eager = eager
    this.#granted = eager
  }

  /** True if a posted place waits for bytes. */
  get awaited(): boolean {
    return this.#stretches.length > 0
  }

  /** True if all of it has come. */
  get complete(): boolean {
    return this.#received === this.total
  }

  /** Post a place for what comes next. Returns how far the sender may go now, or 0 if it does not have to be told. */
  post(bytes: Uint8Array): number {
    this.#stretches.push({ bytes, at: 0 })
    this.#posted += bytes.length
    const before = this.#granted
    if (before < this.total) this.#granted = Math.min(this.total, this.#posted + this.#eager)
    return this.#granted > before ? this.#granted : 0
  }

  /** Put early bytes where they belong, after `post`. Returns how many places that filled. */
  settle(): number {
    const before = this.#stretches.length
    while (this.#early.length > 0 && this.#stretches.length > 0) {
      const early = this.#early[0]!
      early.at += this.#place(early.bytes, early.at, early.bytes.length - early.at)
      if (early.at === early.bytes.length) this.#early.shift()
    }
    return before - this.#stretches.length
  }

  /** Take bytes that have come. Returns how many places they filled, or -1 if they are more than was granted. */
  take(bytes: Uint8Array, at: number, length: number): number {
    if (this.#received + length > Math.min(this.total, this.#granted)) return -1
    this.#received += length
    const before = this.#stretches.length
    const placed = this.#early.length > 0 ? 0 : this.#place(bytes, at, length)
    if (placed < length) this.#early.push({ bytes: bytes.slice(at + placed, at + length), at: 0 })
    return before - this.#stretches.length
  }

  #place(bytes: Uint8Array, at: number, length: number): number {
    let placed = 0
    while (placed < length && this.#stretches.length > 0) {
      const stretch = this.#stretches[0]!
      const part = Math.min(length - placed, stretch.bytes.length - stretch.at)
      copyBytes(bytes, at + placed, stretch.bytes, stretch.at, part)
      stretch.at += part
      placed += part
      if (stretch.at === stretch.bytes.length) this.#stretches.shift()
    }
    return placed
  }
}

/** Below this a loop is faster than the engine's call, which needs a view. */
const SHORT_BYTES = 48

function copyBytes(from: Uint8Array, fromAt: number, into: Uint8Array, intoAt: number, length: number): void {
  if (length <= SHORT_BYTES) for (let i = 0; i < length; i += 1) into[intoAt + i] = from[fromAt + i]!
  else into.set(from.subarray(fromAt, fromAt + length), intoAt)
}

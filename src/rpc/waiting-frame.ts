const NOTHING: Uint8Array = new Uint8Array(0)

/** A frame that waits for room. */
export class WaitingFrame {
  readonly kind: number
  readonly call: number
  readonly word: number
  readonly budget: number
  extension: Uint8Array | undefined
  body: Uint8Array
  /** Bytes of a body that was offered to the peer, which fetches it; `body` is then empty. */
  offeredBytes = 0
  /** How much of the body has left. */
  sentBytes = 0
  /** A part of it has left. */
  started = false
  /** It is not wanted any more, and no part of it has left. */
  dropped = false

  constructor(
    kind: number,
    call: number,
    word: number,
    budget: number,
    extension: Uint8Array | undefined,
    body: Uint8Array,
  ) {
    this.kind = kind
    this.call = call
    this.word = word
    this.budget = budget
    this.extension = extension
    this.body = body
  }

  /** Release what it holds. Its call may keep the frame for long. */
  letGo(): void {
    this.body = NOTHING
    this.extension = undefined
  }
}

const NOTHING: Uint8Array = new Uint8Array(0)

/** A frame that waits for room. */
export class WaitingFrame {
  readonly kind: number
  readonly call: number
  readonly word: number
  readonly budget: number
  extension: Uint8Array | undefined
  body: Uint8Array
  /** Bytes of a body that was offered to the peer, which fetches it: `body` is empty then. */
  offeredBytes = 0
  /** How much of the body has left. */
  sentBytes = 0
  /** Something of it has left. */
  started = false
  /** Nobody wants it any more, and nothing of it has left. */
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

  /** Nothing of it is needed any more. Its call may have it for long. */
  letGo(): void {
    this.body = NOTHING
    this.extension = undefined
  }
}

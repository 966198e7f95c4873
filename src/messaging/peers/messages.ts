import { type Frame, FrameKind } from './frame.ts'
import type { PeerChannel } from './peer-channel.ts'
import { OutgoingStream } from './streams.ts'

/** What a message takes of the window besides its bytes, so that empty ones are bounded, too. */
const MESSAGE_COST = 64

interface Sending {
  readonly bytes: Uint8Array
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

interface Arriving {
  readonly bytes: Uint8Array
  filled: number
}

interface Receiver {
  readonly resolve: (message: Uint8Array) => void
  readonly reject: (error: Error) => void
}

/**
 * Messages of programs between two peers, in order in each direction. The receiver's window limits what may wait there.
 * A message longer than the window flows while a caller waits for it.
 */
export class Messages {
  readonly #channel: PeerChannel
  readonly #bytesMax: number
  readonly #windowBytes: number
  readonly #sending: Sending[] = []
  #stream: OutgoingStream | undefined
  #number = 0
  /** What the messages before the one in `#stream` took of the peer's window, and up to where it goes. */
  #spent = 0
  #limit = 0
  readonly #arrived: Uint8Array[] = []
  #arriving: Arriving | undefined
  readonly #receivers: Receiver[] = []
  /**
   * Of what has come, how much the program has taken; what of it the peer was told, and what of the message that is
   * arriving is counted.
   */
  #taken = 0
  #told = 0
  #counted = 0
  /** Why nothing is sent any more, and nothing comes. */
  #error: Error | undefined
  /** Why no further message is sent. */
  #finished: Error | undefined
  #whenSent: (() => void)[] = []

  constructor(channel: PeerChannel, peerWindowBytes: number, windowBytes: number, bytesMax: number) {
    this.#channel = channel
    this.#limit = peerWindowBytes
    this.#windowBytes = windowBytes
    this.#bytesMax = bytesMax
  }

  get waiting(): number {
    return this.#arrived.length
  }

  /** `resolve`: the bytes may be used again. */
  send(bytes: Uint8Array, resolve: () => void, reject: (error: Error) => void): void {
    const refusal = this.#error ?? this.#finished
    if (refusal !== undefined) {
      reject(refusal)
      return
    }
    this.#sending.push({ bytes, resolve, reject })
    if (this.#sending.length === 1) this.#next()
  }

  receive(resolve: (message: Uint8Array) => void, reject: (error: Error) => void): void {
    const message = this.take()
    if (message !== undefined) resolve(message)
    else if (this.#error !== undefined) reject(this.#error)
    else {
      this.#receivers.push({ resolve, reject })
      this.#count()
    }
  }

  /** The receiver does not want it any more. */
  forget(resolve: (message: Uint8Array) => void): void {
    const at = this.#receivers.findIndex((receiver) => receiver.resolve === resolve)
    if (at >= 0) this.#receivers.splice(at, 1)
  }

  /** The next message, if one has come. */
  take(): Uint8Array | undefined {
    const message = this.#arrived.shift()
    if (message !== undefined) this.#grant(message.length + MESSAGE_COST)
    return message
  }

  /** Returns false if it breaks the rules. */
  cameFrame(frame: Frame, bytes: Uint8Array, at: number, length: number): boolean {
    if (frame.kind === FrameKind.MessageGrant) {
      if (!(frame.amount >= this.#limit)) return false
      this.#limit = frame.amount
      if (this.#stream !== undefined) {
        this.#stream.grant(this.#limit - this.#spent)
        this.#channel.push(this.#stream)
      } else this.#next()
      return true
    }
    if (!(Number.isSafeInteger(frame.amount) && frame.amount >= 0 && frame.amount <= this.#bytesMax)) return false
    this.#arriving ??= { bytes: new Uint8Array(frame.amount), filled: 0 }
    const { bytes: message, filled } = this.#arriving
    if (message.length !== frame.amount || filled + length > message.length) return false
    message.set(bytes.subarray(at, at + length), filled)
    this.#arriving.filled += length
    if (this.#arriving.filled < message.length) {
      if (this.#receivers.length > 0) this.#count()
      return true
    }
    const uncounted = message.length - this.#counted + MESSAGE_COST
    this.#arriving = undefined
    this.#counted = 0
    const receiver = this.#receivers.shift()
    // What was counted of it while a caller waited is not counted again when it is taken.
    this.#taken -= receiver === undefined ? message.length + MESSAGE_COST - uncounted : 0
    if (receiver === undefined) this.#arrived.push(message)
    else {
      this.#grant(uncounted)
      receiver.resolve(message)
    }
    return true
  }

  /**
   * Resolves when everything that was passed has left, or the peer is lost. Later messages are refused with `error`.
   */
  async finish(error: Error): Promise<void> {
    this.#finished ??= error
    if (this.#sending.length > 0) await new Promise<void>((resolve) => this.#whenSent.push(resolve))
  }

  fail(error: Error): void {
    this.#error = error
    for (const { reject } of this.#sending.splice(0)) reject(error)
    this.#tellSent()
    for (const { reject } of this.#receivers.splice(0)) reject(error)
  }

  /** A caller waits for the message that is arriving, so what has come of it makes room. */
  #count(): void {
    const filled = this.#arriving?.filled ?? 0
    this.#grant(filled - this.#counted)
    this.#counted = filled
  }

  #grant(bytes: number): void {
    this.#taken += bytes
    if (this.#taken - this.#told < this.#windowBytes >> 2) return
    this.#told = this.#taken
    this.#channel.control(FrameKind.MessageGrant, 0, 0, 0, this.#windowBytes + this.#taken)
  }

  /** Begin with the first of those that wait, if there is room for any of it. */
  #next(): void {
    while (this.#stream === undefined && this.#sending.length > 0) {
      const { bytes } = this.#sending[0]!
      const room = this.#limit - this.#spent - MESSAGE_COST
      if (room < Math.min(bytes.length, 1)) return
      this.#number = (this.#number + 1) >>> 0
      this.#spent += MESSAGE_COST
      if (bytes.length === 0) {
        this.#channel.control(FrameKind.Message, this.#number, 0, 0, 0)
        this.#sent()
        continue
      }
      const sent = (): void => {
        this.#spent += bytes.length
        this.#stream = undefined
        this.#sent()
        this.#next()
      }
      this.#stream = new OutgoingStream({
        kind: FrameKind.Message,
        sequence: this.#number,
        signature: 0,
        group: 0,
        total: bytes.length,
        limit: room,
        sent,
      })
      this.#stream.queue(bytes)
      this.#channel.push(this.#stream)
    }
  }

  /** The first of those that wait has left. */
  #sent(): void {
    // None where the link has just ended by sending it.
    this.#sending.shift()?.resolve()
    if (this.#sending.length === 0) this.#tellSent()
  }

  #tellSent(): void {
    for (const told of this.#whenSent.splice(0)) told()
  }
}

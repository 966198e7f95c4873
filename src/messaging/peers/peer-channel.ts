import type { MessageLink } from '../message-link.ts'
import { FRAME_BYTES, type Frame, FrameKind, FrameView } from './frame.ts'
import type { OutgoingStream } from './streams.ts'

interface Control {
  readonly kind: number
  readonly sequence: number
  readonly signature: number
  readonly group: number
  readonly amount: number
  readonly done: number
  readonly payload: Uint8Array | undefined
}

/** What a channel reports. */
export interface ChannelOwner {
  /** `bytes` are valid from `at` until the call returns. */
  cameFrame(channel: PeerChannel, frame: Frame, bytes: Uint8Array, at: number, length: number): void
  /** Called once; undefined if it was closed. */
  channelEnded(channel: PeerChannel, error: Error | undefined): void
  /** The number of the last collective of a group that is done here. */
  doneOf(group: number): number
}

/** Streams go in pieces of this, so that several share a ring; the copies of both ends overlap. */
const PIECE_BYTES = 16 * 1024

/** The connection to one peer: a link, and what waits for room on it. Control frames go first; streams take turns. */
export class PeerChannel {
  readonly link: MessageLink
  readonly #owner: ChannelOwner
  readonly #controls: Control[] = []
  readonly #streams: OutgoingStream[] = []
  readonly #out: FrameView
  #in: FrameView | undefined
  #waiting = false
  readonly #pieceBytes: number
  /** Committed since the last flush. */
  #committed = 0
  #isClosing = false
  #whenEmpty: (() => void)[] = []

  constructor(link: MessageLink, owner: ChannelOwner) {
    this.link = link
    this.#owner = owner
    this.#out = new FrameView(link.outgoing)
    this.#pieceBytes = Math.min(PIECE_BYTES, link.messageBytesMax - FRAME_BYTES)
  }

  /** Report what comes to the owner from now on. */
  open(): void {
    this.link.onEnd = (error) => {
      this.#owner.channelEnded(this, error)
      this.#tellEmpty()
    }
    this.link.onMessage = (bytes, at, length, immediate, kind) => {
      if (length < FRAME_BYTES) throw new RangeError(`a frame must have at least ${FRAME_BYTES} bytes, not ${length}`)
      if (this.#in?.bytes !== bytes) this.#in = new FrameView(bytes)
      const frame = this.#in.read(at, kind, immediate >>> 0)
      this.#owner.cameFrame(this, frame, bytes, at + FRAME_BYTES, length - FRAME_BYTES)
    }
  }

  /** True once `close` was called at this end. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  /**
   * End the link gracefully, once `before` has resolved and what waits here has left. `before` resolves with the end of
   * the link at the latest. Idempotent.
   */
  close(before: Promise<void> = Promise.resolve()): Promise<void> {
    this.#isClosing = true
    return this.link.close(before.then(() => this.#emptied()))
  }

  /** The longest payload of a control frame. */
  get controlBytesMax(): number {
    return this.#pieceBytes
  }

  control(
    kind: number,
    sequence: number,
    signature: number,
    group: number,
    amount: number,
    payload?: Uint8Array,
  ): void {
    if (!this.link.canSend) return
    const control: Control = { kind, sequence, signature, group, amount, done: this.#owner.doneOf(group), payload }
    if (this.#controls.length === 0) {
      const at = this.link.reserve(FRAME_BYTES + (payload?.length ?? 0))
      if (at >= 0) {
        this.#write(at, control)
        return
      }
    }
    this.#controls[this.#placeOf(control)] = control
    this.pump()
  }

  /**
   * Where it waits. A peer that never reads may ask how far a group is, or be told what is waited for, again and again:
   * of these the last of a group says it all.
   */
  #placeOf({ kind, group }: Control): number {
    const isSaidAgain = kind === FrameKind.Progress || kind === FrameKind.Announce
    const before = isSaidAgain ? this.#controls.findIndex((each) => each.kind === kind && each.group === group) : -1
    return before < 0 ? this.#controls.length : before
  }

  /** The stream has bytes that may leave. */
  push(stream: OutgoingStream): void {
    if (stream.waiting || stream.ready === 0) return
    stream.waiting = true
    this.#streams.push(stream)
    this.pump()
  }

  /** Drop a stream that will not go on. */
  drop(stream: OutgoingStream): void {
    const at = this.#streams.indexOf(stream)
    if (at >= 0) this.#streams.splice(at, 1)
    stream.waiting = false
    // It may be the one of which a piece is leaving just now.
    stream.stop()
  }

  /** Send what there is room for. */
  pump(): void {
    this.#sendWhatFits()
    if (this.#whenEmpty.length > 0 && this.#isEmpty) this.#tellEmpty()
  }

  #sendWhatFits(): void {
    while (this.link.canSend && this.#controls.length > 0) {
      const control = this.#controls[0]!
      const length = FRAME_BYTES + (control.payload?.length ?? 0)
      const at = this.link.reserve(length)
      if (at < 0) {
        this.#wait(length)
        return
      }
      this.#controls.shift()
      this.#write(at, control)
    }
    while (this.link.canSend && this.#streams.length > 0) {
      const stream = this.#streams[0]!
      const length = Math.min(stream.ready, this.#pieceBytes)
      const at = this.link.reserve(FRAME_BYTES + length)
      if (at < 0) {
        this.#wait(FRAME_BYTES + length)
        return
      }
      this.#streams.shift()
      this.#out.write(at, stream.sequence, stream.signature, stream.group, stream.total)
      stream.waiting = false
      const ended = stream.take(this.link.outgoing, at + FRAME_BYTES, length)
      this.#commit(FRAME_BYTES + length, this.#owner.doneOf(stream.group), stream.kind)
      // It may queue its next range, and itself, at this.
      if (ended > 0) stream.sent(ended)
      if (!stream.waiting && stream.ready > 0) {
        stream.waiting = true
        this.#streams.push(stream)
      }
    }
  }

  /** Of what the program has sent. Groups may begin collectives for as long as the link stands: they end with it. */
  get #isEmpty(): boolean {
    return this.#controls.length === 0 && this.#streams.every(({ kind }) => kind !== FrameKind.Message)
  }

  /** Resolves when nothing waits, or nothing can leave any more. */
  async #emptied(): Promise<void> {
    if (this.link.canSend && !this.#isEmpty) await new Promise<void>((resolve) => this.#whenEmpty.push(resolve))
  }

  #tellEmpty(): void {
    for (const told of this.#whenEmpty.splice(0)) told()
  }

  #write(at: number, { kind, sequence, signature, group, amount, done, payload }: Control): void {
    this.#out.write(at, sequence, signature, group, amount)
    if (payload !== undefined) this.link.outgoing.set(payload, at + FRAME_BYTES)
    this.link.commit(FRAME_BYTES + (payload?.length ?? 0), done, kind)
  }

  #commit(length: number, done: number, kind: number): void {
    this.link.commit(length, done, kind)
    this.#committed += length
    // Long streams leave while the rest is still being copied.
    if (this.#committed < this.#pieceBytes * 2) return
    this.#committed = 0
    this.link.flush()
  }

  #wait(length: number): void {
    if (this.#waiting) return
    this.#waiting = true
    const again = (): void => {
      this.#waiting = false
      this.pump()
    }
    // A link that has ended has told it by onEnd, and is not ended again.
    const noRoom = (error: unknown): void => this.link.destroy(error as Error)
    // Nor is one that closes: what waits for room then is of groups.
    this.link
      .writable(length)
      .then(again, () => {})
      .catch(noRoom)
  }
}

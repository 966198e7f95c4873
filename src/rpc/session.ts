import { LinkError, type MessageLink, WaitingLine } from '../messaging/index.ts'
import { ArgumentError, ClosedError } from '../native/index.ts'
import { Assemblies, type BodyLimits } from './assemblies.ts'
import { BodyFetches } from './body-fetches.ts'
import { BodyOffers } from './body-offers.ts'
import { FENCE_MS } from './defaults.ts'
import { MalformedFrameError } from './errors.ts'
import { decodeExtension, withEntries } from './extension.ts'
import { EXTENSION_BYTES_MAX, FrameFlag, FrameKind, HEADER_BYTES, NO_BYTES } from './frame.ts'
import type { FrameHead } from './frame-head.ts'
import type { FrameTaker } from './frame-taker.ts'
import { IncomingFrame } from './incoming-frame.ts'
import { OutgoingFrame } from './outgoing-frame.ts'
import { within } from './within.ts'

/** Limits of a session. */
export interface SessionLimits extends BodyLimits {
  /** How long `close` waits for the peer to fetch the bodies offered here, in ms. Default 1,000. */
  readonly fenceMs?: number
}

/** What a total length, or the place of a body, takes of an extension at most. */
const BODY_ENTRY_BYTES = 24
/** Up to here a loop is faster than a call. */
const LOOP_BYTES_MAX = 16
/** The engine looks methods of typed arrays up at each call, unless they are taken once. */
const { set: setBytes } = Uint8Array.prototype

/**
 * Frames over a link, in both directions and in order. Frames without room wait here. A body that is longer than a
 * message is offered to the peer, which fetches it, or goes in parts.
 */
export class Session {
  readonly link: MessageLink
  /** The number of frames received. Compare it to see whether the peer is alive. */
  received = 0
  #open = true
  #closing = false
  readonly #taker: FrameTaker
  readonly #fenceMs: number
  readonly #outgoing: Uint8Array
  readonly #header: DataView
  #incoming: Uint8Array = NO_BYTES
  #words: DataView = new DataView(NO_BYTES.buffer)
  /** A frame that serves again. While it is filled in, a program's code may send others: they are new ones. */
  #unsent: OutgoingFrame | undefined
  /** The same of frames that come: a program may make a blocking call while it takes one. */
  #untaken: IncomingFrame | undefined
  readonly #queue = new WaitingLine<OutgoingFrame>()
  #pumping = false
  #emptied: (() => void)[] = []
  readonly #assemblies: Assemblies
  readonly #offers: BodyOffers
  readonly #fetches: BodyFetches

  constructor(link: MessageLink, taker: FrameTaker, limits: SessionLimits) {
    this.link = link
    this.#taker = taker
    this.#fenceMs = limits.fenceMs ?? FENCE_MS
    this.#assemblies = new Assemblies(limits)
    this.#offers = new BodyOffers(link)
    this.#fetches = new BodyFetches(link, this.#assemblies, (...ended) => this.#fetched(...ended))
    this.#outgoing = link.outgoing
    this.#header = new DataView(link.outgoing.buffer, link.outgoing.byteOffset, link.outgoing.length)
  }

  /** Receive frames from now on. */
  start(): void {
    this.link.onEnd = (error) => this.#ended(error)
    this.link.onMessage = (bytes, offset, length) => this.#message(bytes, offset, length)
  }

  get open(): boolean {
    return this.#open
  }

  /** The number of frames that wait for room. */
  get waiting(): number {
    return this.#queue.length
  }

  // ---- sending
  // -----------------------------------------------------------------------------------------------------------------

  /** A frame to fill in, for {@link send}. */
  frame(kind: number, call = 0): OutgoingFrame {
    const frame = this.#unsent
    if (frame === undefined) return new OutgoingFrame(kind, call)
    this.#unsent = undefined
    frame.kind = kind
    frame.call = call
    frame.word = 0
    frame.budget = 0
    return frame
  }

  /** Send a frame. Returns undefined if it has left, as far as this end can say; otherwise it waits. */
  send(frame: OutgoingFrame): OutgoingFrame | undefined {
    if (!this.#open || this.#closing) return undefined
    if (frame.extension !== undefined || !this.#sendNow(frame)) return this.#sendSlow(frame)
    frame.letGo()
    this.#unsent = frame
    return undefined
  }

  /** Send a frame that has no body. */
  say(kind: number, { call = 0, word = 0, budget = 0 }: Partial<FrameHead> = {}): OutgoingFrame | undefined {
    const frame = this.frame(kind, call)
    frame.word = word
    frame.budget = budget
    return this.send(frame)
  }

  /** True if a frame with this extension, and any body, can go over the link. */
  fits(extension: Uint8Array | undefined): boolean {
    return HEADER_BYTES + (extension?.length ?? 0) + BODY_ENTRY_BYTES < this.link.messageBytesMax
  }

  /** @throws ArgumentError if no frame with this extension can go over the link; {@link send} would throw it, too. */
  checkExtension(extension: Uint8Array | undefined): void {
    if (this.fits(extension)) return
    throw new ArgumentError(
      'metadata',
      `${extension?.length ?? 0} bytes beside the body are too many for this link; put them into the body`,
    )
  }

  /** Whether there was room for the whole frame, and nothing before it. */
  #sendNow(frame: OutgoingFrame): boolean {
    const { bodyBytes } = frame
    const length = HEADER_BYTES + bodyBytes
    if (this.#queue.length !== 0 || length > this.link.messageBytesMax) return false
    const at = this.link.reserve(length)
    if (at < 0) return false
    this.#write(at, frame, frame.kind)
    this.#copy(frame.body, bodyBytes, at + HEADER_BYTES)
    this.link.commit(length)
    return true
  }

  /**
   * End the link gracefully: frames that wait for room are dropped, and those that have left arrive. The peer has
   * `fenceMs` for the bodies that it has to fetch.
   */
  async close(): Promise<void> {
    this.#closing = true
    // The peer was not told of these.
    for (const { call, started, offeredBytes } of this.#queue)
      if (offeredBytes > 0 && !started) this.#offers.withdraw(call)
    this.#dropAll()
    if (this.#open) await within(this.#offers.settled(), this.#fenceMs)
    await this.link.close()
  }

  /**
   * Resolves when no frame waits for room and the peer has fetched all bodies offered here, or the session has ended.
   */
  async settled(): Promise<void> {
    await this.emptied()
    await this.#offers.settled()
  }

  /**
   * The body of this call is not wanted any more, whether it is being fetched or offered here. `waiting`: its frame, if
   * it waits.
   */
  unwanted(call: number, waiting: OutgoingFrame | undefined): void {
    this.#fetches.drop(call)
    if (waiting === undefined || waiting.started) this.#offers.unwanted(call)
    else {
      this.#offers.withdraw(call)
      this.forget(waiting)
    }
  }

  /** This frame does not have to leave any more; if a part of it has left, it goes on. */
  forget(waiting: OutgoingFrame): void {
    if (waiting.started) return
    this.#drop(waiting)
    if (this.#queue.length === 0) this.#tellEmptied()
  }

  /** Its call may keep the frame for long, but not what it holds. */
  #drop(frame: OutgoingFrame): void {
    this.#queue.remove(frame)
    frame.letGo()
  }

  #dropAll(): void {
    for (const frame of [...this.#queue]) this.#drop(frame)
  }

  /** Resolves when no frame waits for room, or the session has ended. */
  emptied(): Promise<void> {
    if (this.waiting === 0 || !this.#open) return Promise.resolve()
    return new Promise((resolve) => this.#emptied.push(resolve))
  }

  #sendSlow(frame: OutgoingFrame): OutgoingFrame | undefined {
    this.checkExtension(frame.extension)
    if (frame.bodyBytes < frame.body.length) frame.body = frame.body.subarray(0, frame.bodyBytes)
    if (this.waiting === 0 && this.#put(frame)) return undefined
    if (!frame.started) this.#offer(frame)
    if (!frame.kept) {
      // A Buffer's own slice would be no copy.
      frame.body = Uint8Array.prototype.slice.call(frame.body, frame.sentBytes)
      frame.sentBytes = 0
    }
    this.#queue.push(frame)
    if (!this.#pumping) void this.#pump()
    return frame
  }

  /** A body that is longer than a message lies here for the peer from now on, where there is room for it. */
  #offer(frame: OutgoingFrame): void {
    const { kind, call, body } = frame
    if (HEADER_BYTES + (frame.extension?.length ?? 0) + body.length <= this.link.messageBytesMax) return
    const part = this.#offers.offer(kind, call, body)
    if (part === undefined) return
    frame.extension = withEntries(frame.extension, { body: part })
    frame.offeredBytes = body.length
    frame.body = NO_BYTES
  }

  /** Whether all of the frame has left. */
  #put(frame: OutgoingFrame): boolean {
    if (!frame.started) {
      if (!this.#putFirst(frame)) return false
      frame.started = true
    }
    while (frame.sentBytes < frame.body.length) if (!this.#putPart(frame)) return false
    return true
  }

  /** Messages of long bodies are half as long as they may be, so that one is on its way while the next is written. */
  get #chunkBytes(): number {
    return (this.link.messageBytesMax >>> 1) - HEADER_BYTES
  }

  #putFirst(frame: OutgoingFrame): boolean {
    this.#offer(frame)
    if (frame.offeredBytes > 0) return this.#putOffered(frame)
    const extensionBytes = frame.extension?.length ?? 0
    const whole = HEADER_BYTES + extensionBytes + frame.body.length
    if (whole <= this.link.messageBytesMax) return this.#putMessage(frame, frame.extension, frame.body.length, 0)
    const extension = withEntries(frame.extension, { totalBytes: frame.body.length })
    return this.#putMessage(frame, extension, Math.max(0, this.#chunkBytes - extension.length), FrameFlag.More)
  }

  #putOffered(frame: OutgoingFrame): boolean {
    if (!this.#putMessage(frame, frame.extension, 0, FrameFlag.Offered)) return false
    this.link.charge?.(frame.offeredBytes)
    return true
  }

  #putMessage(frame: OutgoingFrame, extension: Uint8Array | undefined, bodyBytes: number, flags: number): boolean {
    const extensionBytes = extension?.length ?? 0
    const length = HEADER_BYTES + extensionBytes + bodyBytes
    const at = this.link.reserve(length)
    if (at < 0) return false
    this.#write(at, frame, frame.kind | (flags << 8) | (extensionBytes << 16))
    if (extension !== undefined) this.#outgoing.set(extension, at + HEADER_BYTES)
    this.#copy(frame.body, bodyBytes, at + HEADER_BYTES + extensionBytes)
    this.link.commit(length)
    frame.sentBytes = bodyBytes
    return true
  }

  #putPart(frame: OutgoingFrame): boolean {
    const bodyBytes = Math.min(this.#chunkBytes, frame.body.length - frame.sentBytes)
    const at = this.link.reserve(HEADER_BYTES + bodyBytes)
    if (at < 0) return false
    this.#write(at, frame, FrameKind.Part)
    this.#outgoing.set(frame.body.subarray(frame.sentBytes, frame.sentBytes + bodyBytes), at + HEADER_BYTES)
    this.link.commit(HEADER_BYTES + bodyBytes)
    frame.sentBytes += bodyBytes
    return true
  }

  /** The least message with which it makes sense to go on. */
  #nextBytes(frame: OutgoingFrame): number {
    const rest = HEADER_BYTES + (frame.extension?.length ?? 0) + BODY_ENTRY_BYTES + frame.body.length - frame.sentBytes
    return Math.min(rest, this.link.messageBytesMax)
  }

  async #pump(): Promise<void> {
    this.#pumping = true
    try {
      while (this.#open && !this.#closing && this.#drain())
        await this.link.writable(this.#nextBytes(this.#queue.first!))
    } catch (error) {
      // A link that has ended says so by itself; anything else would leave what waits here without an end.
      if (!(error instanceof LinkError || error instanceof ClosedError)) this.link.destroy(error as Error)
    } finally {
      this.#pumping = false
    }
    this.#tellEmptied()
  }

  /** Sends what there is room for; true where something still waits. */
  #drain(): boolean {
    for (let frame = this.#queue.first; frame !== undefined; frame = this.#queue.first) {
      if (!this.#put(frame)) return true
      this.#drop(frame)
    }
    return false
  }

  /** Send what there is room for now, for a caller that does not return to the event loop. */
  push(): void {
    if (this.#open && this.waiting > 0) this.#drain()
  }

  #tellEmptied(): void {
    const waiting = this.#emptied
    this.#emptied = []
    for (const each of waiting) each()
  }

  /** `first`: kind, flags, and bytes of the extension. */
  #write(at: number, { call, word, budget }: FrameHead, first: number): void {
    const header = this.#header
    header.setUint32(at, first, true)
    header.setInt32(at + 4, call, true)
    header.setInt32(at + 8, word, true)
    header.setInt32(at + 12, budget, true)
  }

  /** The first `length` bytes of `body`. */
  #copy(body: Uint8Array, length: number, at: number): void {
    const outgoing = this.#outgoing
    if (length > LOOP_BYTES_MAX) setBytes.call(outgoing, length === body.length ? body : body.subarray(0, length), at)
    else for (let index = 0; index < length; index += 1) outgoing[at + index] = body[index]!
  }

  // ---- receiving
  // ---------------------------------------------------------------------------------------------------------------

  #message(bytes: Uint8Array, offset: number, length: number): void {
    if (!this.#open) return
    try {
      if (length < HEADER_BYTES) throw new MalformedFrameError(`a frame of ${length} bytes is shorter than its header`)
      if (bytes !== this.#incoming) {
        this.#incoming = bytes
        this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
      }
      this.received += 1
      this.#parse(bytes, offset, length)
    } catch (error) {
      this.link.destroy(error instanceof Error ? error : new MalformedFrameError(String(error)))
    }
  }

  #parse(bytes: Uint8Array, offset: number, length: number): void {
    const words = this.#words
    const first = words.getUint32(offset, true)
    const call = words.getInt32(offset + 4, true)
    const kind = first & 0xff
    if (kind === FrameKind.Part) this.#part(call, bytes.subarray(offset + HEADER_BYTES, offset + length))
    else if (kind === FrameKind.Fetched) this.#offers.fetched(call)
    else if (kind === FrameKind.Cancel && this.#fetches.hasRequest(call)) this.#fetches.drop(call)
    else {
      const frame = this.#untaken ?? new IncomingFrame(kind, call)
      this.#untaken = undefined
      frame.kind = kind
      frame.call = call
      frame.word = words.getInt32(offset + 8, true)
      frame.budget = words.getInt32(offset + 12, true)
      frame.bytes = bytes
      frame.offset = offset + HEADER_BYTES
      frame.length = length - HEADER_BYTES
      if (first >>> 8 === 0) {
        this.#taker.frame(frame)
        this.#untaken = frame
      } else this.#extended(frame, first)
    }
  }

  #extended(frame: IncomingFrame, first: number): void {
    const { bytes, offset, call } = frame
    const extensionBytes = first >>> 16
    if (extensionBytes > frame.length || extensionBytes > EXTENSION_BYTES_MAX)
      throw new MalformedFrameError('an extension is longer than its message')
    frame.offset += extensionBytes
    frame.length -= extensionBytes
    frame.extension = decodeExtension(Uint8Array.prototype.slice.call(bytes, offset, frame.offset))
    const flags = first >>> 8
    if ((flags & FrameFlag.Offered) !== 0) this.#offered(frame)
    else if ((flags & FrameFlag.More) === 0) this.#taker.frame(frame)
    else {
      const { totalBytes } = frame.extension
      const body = bytes.subarray(frame.offset, frame.offset + frame.length)
      if (!this.#assemblies.begin(frame, totalBytes)) this.#taker.tooLong(frame, totalBytes)
      this.#part(call, body)
    }
  }

  #part(call: number, bytes: Uint8Array): void {
    const whole = this.#assemblies.part(call, bytes)
    if (whole !== undefined) this.#taker.frame(whole)
  }

  /** The body lies at the peer. */
  #offered(frame: IncomingFrame): void {
    const { kind, call } = frame
    if (kind !== FrameKind.Request && kind !== FrameKind.Answer)
      throw new MalformedFrameError(`a frame of kind ${kind} cannot offer a body`)
    if (this.#fetches.has(call)) throw new MalformedFrameError('a body is offered within another of the same call')
    const length = frame.extension.body?.length ?? 0
    const memory = this.#taker.wants(frame)
    if (memory === undefined) {
      this.say(FrameKind.Fetched, { call })
      this.#taker.dropped(frame, undefined)
    } else if (this.#assemblies.offered(length)) this.#fetches.begin(frame, memory)
    else {
      this.say(FrameKind.Fetched, { call })
      this.#taker.tooLong(frame, length)
    }
  }

  /** The peer may take the memory back then: READs of it that the network repeats come first. */
  #sayFenced(call: number): void {
    this.link.lending?.fenceReads((error) => {
      if (error === undefined && this.#open) this.say(FrameKind.Fetched, { call })
    })
  }

  #fetched(frame: IncomingFrame, isWhole: boolean, shortage: unknown): void {
    this.#assemblies.ended()
    this.#sayFenced(frame.call)
    if (isWhole) this.#taker.frame(frame)
    else this.#taker.dropped(frame, shortage)
  }

  #ended(error: Error | undefined): void {
    this.#open = false
    this.#dropAll()
    this.#assemblies.clear()
    this.#fetches.end()
    this.#offers.end()
    this.#tellEmptied()
    this.#taker.ended(error)
  }
}

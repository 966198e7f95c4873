import { LinkError, type MessageLink } from '../messaging/index.ts'
import { ArgumentError, ClosedError } from '../native/index.ts'
import { MalformedFrameError } from './errors.ts'
import { decodeExtension, type Extension, encodeExtension, NO_EXTENSION } from './extension.ts'
import { EXTENSION_BYTES_MAX, FrameFlag, FrameKind, HEADER_BYTES } from './frame.ts'

/** What takes the frames of a session. */
export interface FrameTaker {
  /** A whole frame. Its body is `length` bytes of `bytes` from `offset` on; `own`: they are nobody else's, otherwise they are gone when this returns. What it throws ends the link. */
  frame(
    kind: number,
    call: number,
    word: number,
    budget: number,
    extension: Extension,
    bytes: Uint8Array,
    offset: number,
    length: number,
    own: boolean,
  ): void
  /** A body of this call is longer than what is taken here; it is passed over. */
  tooLong(kind: number, call: number, totalBytes: number): void
  /** Once, last. */
  ended(error: Error | undefined): void
}

/** Bounds of what a session takes. */
export interface SessionLimits {
  /** The longest request, answer or item, encoded. */
  readonly bodyBytesMax: number
  /** Bytes of bodies that come in parts, of all calls of a link at a time. */
  readonly assemblyBytesMax: number
}

/** A frame that waits for room. */
export class WaitingFrame {
  readonly kind: number
  readonly call: number
  readonly word: number
  readonly budget: number
  extension: Uint8Array | undefined
  body: Uint8Array
  /** How much of the body has left. */
  sentBytes = 0
  /** Something of it has left. */
  started = false
  /** Nobody wants it any more; looked at until it has started. */
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
}

/** A body that comes in parts. */
interface Assembly {
  readonly kind: number
  readonly word: number
  readonly budget: number
  readonly extension: Extension
  /** Undefined where it is passed over. */
  readonly bytes: Uint8Array | undefined
  readonly totalBytes: number
  cameBytes: number
}

export const NO_BYTES: Uint8Array = new Uint8Array(0)
/** What a total length takes of an extension. */
const TOTAL_ENTRY_BYTES = 8
/** Bodies that may come in parts at a time: an end of ours sends one after the other. */
const ASSEMBLIES_MAX = 64
/** Up to here a loop is faster than a call. */
const LOOP_BYTES_MAX = 16

/**
 * Frames over a link, both ways, in order. What finds no room waits here; a body that is longer than a message goes in parts.
 */
export class Session {
  readonly link: MessageLink
  /** Frames that came; who wants to know whether the peer is alive compares. */
  received = 0
  #open = true
  #closing = false
  readonly #taker: FrameTaker
  readonly #limits: SessionLimits
  readonly #outgoing: Uint8Array
  readonly #header: DataView
  #incoming: Uint8Array = NO_BYTES
  #words: DataView = new DataView(NO_BYTES.buffer)
  #queue: WaitingFrame[] = []
  #queueHead = 0
  #pumping = false
  #emptied: (() => void)[] = []
  readonly #assemblies = new Map<number, Assembly>()
  #assemblyBytes = 0

  constructor(link: MessageLink, taker: FrameTaker, limits: SessionLimits) {
    this.link = link
    this.#taker = taker
    this.#limits = limits
    this.#outgoing = link.outgoing
    this.#header = new DataView(link.outgoing.buffer, link.outgoing.byteOffset, link.outgoing.length)
  }

  /** Frames come from now on. */
  start(): void {
    this.link.onEnd = (error) => this.#ended(error)
    this.link.onMessage = (bytes, offset, length) => this.#message(bytes, offset, length)
  }

  get open(): boolean {
    return this.#open
  }

  /** Frames that wait for room. */
  get waiting(): number {
    return this.#queue.length - this.#queueHead
  }

  // ---- sending -----------------------------------------------------------------------------------------------------------------

  /**
   * Undefined where the frame has left, as far as this end can say; otherwise it waits. `body` is copied unless it is `kept` as it is until it has left.
   */
  send(
    kind: number,
    call: number,
    word: number,
    budget: number,
    extension: Uint8Array | undefined,
    body: Uint8Array,
    kept: boolean,
  ): WaitingFrame | undefined {
    if (!this.#open || this.#closing) return undefined
    if (extension === undefined && this.#sendNow(kind, call, word, budget, body, body.length)) return undefined
    return this.#sendSlow(new WaitingFrame(kind, call, word, budget, extension, body), kept)
  }

  /** As {@link send}: the body is the first `length` of these bytes, and is copied. */
  sendRange(
    kind: number,
    call: number,
    word: number,
    budget: number,
    bytes: Uint8Array,
    length: number,
  ): WaitingFrame | undefined {
    if (!this.#open || this.#closing || this.#sendNow(kind, call, word, budget, bytes, length)) return undefined
    return this.#sendSlow(new WaitingFrame(kind, call, word, budget, undefined, bytes.subarray(0, length)), false)
  }

  /** Whether there was room for the whole frame, and nothing before it. */
  #sendNow(kind: number, call: number, word: number, budget: number, body: Uint8Array, bodyBytes: number): boolean {
    const length = HEADER_BYTES + bodyBytes
    if (this.#queueHead !== this.#queue.length || length > this.link.messageBytesMax) return false
    const at = this.link.reserve(length)
    if (at < 0) return false
    this.#write(at, kind, 0, call, word, budget)
    this.#copy(body, bodyBytes, at + HEADER_BYTES)
    this.link.commit(length)
    return true
  }

  /** Ends the link in order: what waits for room is dropped, what has left arrives. */
  close(): Promise<void> {
    this.#closing = true
    this.#queue = []
    this.#queueHead = 0
    return this.link.close()
  }

  /** When nothing waits for room, or the session has ended. */
  emptied(): Promise<void> {
    if (this.waiting === 0 || !this.#open) return Promise.resolve()
    return new Promise((resolve) => this.#emptied.push(resolve))
  }

  #sendSlow(frame: WaitingFrame, kept: boolean): WaitingFrame | undefined {
    const extensionBytes = frame.extension?.length ?? 0
    if (HEADER_BYTES + extensionBytes + TOTAL_ENTRY_BYTES >= this.link.messageBytesMax)
      throw new ArgumentError(
        'metadata',
        `${extensionBytes} bytes with a frame are too many for this link; put them into the body`,
      )
    if (this.waiting === 0 && this.#put(frame)) return undefined
    if (!kept) {
      // A Buffer's own slice would be no copy.
      frame.body = Uint8Array.prototype.slice.call(frame.body, frame.sentBytes)
      frame.sentBytes = 0
    }
    this.#queue.push(frame)
    if (!this.#pumping) void this.#pump()
    return frame
  }

  /** Whether all of the frame has left. */
  #put(frame: WaitingFrame): boolean {
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

  #putFirst(frame: WaitingFrame): boolean {
    const extensionBytes = frame.extension?.length ?? 0
    const whole = HEADER_BYTES + extensionBytes + frame.body.length
    if (whole <= this.link.messageBytesMax) return this.#putMessage(frame, frame.extension, frame.body.length, 0)
    const extension = withTotal(frame.extension, frame.body.length)
    return this.#putMessage(frame, extension, Math.max(0, this.#chunkBytes - extension.length), FrameFlag.More)
  }

  #putMessage(frame: WaitingFrame, extension: Uint8Array | undefined, bodyBytes: number, flags: number): boolean {
    const extensionBytes = extension?.length ?? 0
    const length = HEADER_BYTES + extensionBytes + bodyBytes
    const at = this.link.reserve(length)
    if (at < 0) return false
    this.#write(at, frame.kind, flags, frame.call, frame.word, frame.budget, extensionBytes)
    if (extension !== undefined) this.#outgoing.set(extension, at + HEADER_BYTES)
    this.#copy(frame.body, bodyBytes, at + HEADER_BYTES + extensionBytes)
    this.link.commit(length)
    frame.sentBytes = bodyBytes
    return true
  }

  #putPart(frame: WaitingFrame): boolean {
    const bodyBytes = Math.min(this.#chunkBytes, frame.body.length - frame.sentBytes)
    const at = this.link.reserve(HEADER_BYTES + bodyBytes)
    if (at < 0) return false
    this.#write(at, FrameKind.Part, 0, frame.call, 0, 0)
    this.#outgoing.set(frame.body.subarray(frame.sentBytes, frame.sentBytes + bodyBytes), at + HEADER_BYTES)
    this.link.commit(HEADER_BYTES + bodyBytes)
    frame.sentBytes += bodyBytes
    return true
  }

  /** The least message with which it makes sense to go on. */
  #nextBytes(frame: WaitingFrame): number {
    const rest = HEADER_BYTES + (frame.extension?.length ?? 0) + TOTAL_ENTRY_BYTES + frame.body.length - frame.sentBytes
    return Math.min(rest, this.link.messageBytesMax)
  }

  async #pump(): Promise<void> {
    this.#pumping = true
    try {
      while (this.#open && !this.#closing && this.#drain())
        await this.link.writable(this.#nextBytes(this.#queue[this.#queueHead]!))
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
    while (this.#queueHead < this.#queue.length) {
      const frame = this.#queue[this.#queueHead]!
      if ((!frame.dropped || frame.started) && !this.#put(frame)) return true
      this.#queueHead += 1
    }
    this.#queue = []
    this.#queueHead = 0
    return false
  }

  /** Sends what there is room for just now, for a caller that does not come back to the event loop. */
  push(): void {
    if (this.#open && this.waiting > 0) this.#drain()
  }

  #tellEmptied(): void {
    const waiting = this.#emptied
    this.#emptied = []
    for (const each of waiting) each()
  }

  #write(
    at: number,
    kind: number,
    flags: number,
    call: number,
    word: number,
    budget: number,
    extensionBytes = 0,
  ): void {
    const header = this.#header
    header.setUint32(at, kind | (flags << 8) | (extensionBytes << 16), true)
    header.setUint32(at + 4, call, true)
    header.setUint32(at + 8, word, true)
    header.setUint32(at + 12, budget, true)
  }

  /** The first `length` bytes of `body`. */
  #copy(body: Uint8Array, length: number, at: number): void {
    const outgoing = this.#outgoing
    if (length > LOOP_BYTES_MAX) outgoing.set(length === body.length ? body : body.subarray(0, length), at)
    else for (let index = 0; index < length; index += 1) outgoing[at + index] = body[index] as number
  }

  // ---- receiving ---------------------------------------------------------------------------------------------------------------

  #message(bytes: Uint8Array, offset: number, length: number): void {
    if (!this.#open) return
    try {
      if (length < HEADER_BYTES) throw new MalformedFrameError(`${length} bytes are less than a header`)
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
    const head = words.getUint32(offset, true)
    const call = words.getUint32(offset + 4, true)
    const kind = head & 0xff
    if (head >>> 8 === 0 && kind !== FrameKind.Part) {
      const word = words.getUint32(offset + 8, true)
      const budget = words.getUint32(offset + 12, true)
      this.#taker.frame(
        kind,
        call,
        word,
        budget,
        NO_EXTENSION,
        bytes,
        offset + HEADER_BYTES,
        length - HEADER_BYTES,
        false,
      )
      return
    }
    if (kind === FrameKind.Part) this.#part(call, bytes, offset + HEADER_BYTES, length - HEADER_BYTES)
    else this.#extended(head, call, bytes, offset, length)
  }

  #extended(head: number, call: number, bytes: Uint8Array, offset: number, length: number): void {
    const kind = head & 0xff
    const extensionBytes = head >>> 16
    const bodyAt = offset + HEADER_BYTES + extensionBytes
    const bodyBytes = length - HEADER_BYTES - extensionBytes
    if (bodyBytes < 0 || extensionBytes > EXTENSION_BYTES_MAX)
      throw new MalformedFrameError('an extension is longer than its message')
    const word = this.#words.getUint32(offset + 8, true)
    const budget = this.#words.getUint32(offset + 12, true)
    const extension = decodeExtension(Uint8Array.prototype.slice.call(bytes, offset + HEADER_BYTES, bodyAt))
    if (((head >>> 8) & FrameFlag.More) === 0) {
      this.#taker.frame(kind, call, word, budget, extension, bytes, bodyAt, bodyBytes, false)
      return
    }
    this.#assemble(
      { kind, word, budget, extension, totalBytes: extension.totalBytes, cameBytes: 0, bytes: undefined },
      call,
    )
    this.#part(call, bytes, bodyAt, bodyBytes)
  }

  #assemble(assembly: Assembly, call: number): void {
    if (this.#assemblies.has(call)) throw new MalformedFrameError('a body begins within another of the same call')
    if (this.#assemblies.size >= ASSEMBLIES_MAX)
      throw new MalformedFrameError(`more than ${ASSEMBLIES_MAX} bodies were begun and not ended`)
    const { totalBytes } = assembly
    const isTaken =
      totalBytes <= this.#limits.bodyBytesMax && this.#assemblyBytes + totalBytes <= this.#limits.assemblyBytesMax
    if (isTaken) this.#assemblyBytes += totalBytes
    this.#assemblies.set(call, { ...assembly, bytes: isTaken ? new Uint8Array(totalBytes) : undefined })
    if (!isTaken) this.#taker.tooLong(assembly.kind, call, totalBytes)
  }

  #part(call: number, bytes: Uint8Array, offset: number, length: number): void {
    const assembly = this.#assemblies.get(call)
    if (assembly === undefined) throw new MalformedFrameError('a part of a body that was not begun')
    if (length > assembly.totalBytes - assembly.cameBytes)
      throw new MalformedFrameError('a body is longer than it was said to be')
    assembly.bytes?.set(bytes.subarray(offset, offset + length), assembly.cameBytes)
    assembly.cameBytes += length
    if (assembly.cameBytes < assembly.totalBytes) return
    this.#assemblies.delete(call)
    if (assembly.bytes === undefined) return
    this.#assemblyBytes -= assembly.totalBytes
    const { kind, word, budget, extension, totalBytes } = assembly
    this.#taker.frame(kind, call, word, budget, extension, assembly.bytes, 0, totalBytes, true)
  }

  #ended(error: Error | undefined): void {
    this.#open = false
    this.#queue = []
    this.#queueHead = 0
    this.#assemblies.clear()
    this.#tellEmptied()
    this.#taker.ended(error)
  }
}

/** The extension with the length of the whole body. */
function withTotal(extension: Uint8Array | undefined, totalBytes: number): Uint8Array {
  const total = encodeExtension({ ...NO_EXTENSION, totalBytes }) as Uint8Array
  return extension === undefined ? total : Buffer.concat([extension, total])
}

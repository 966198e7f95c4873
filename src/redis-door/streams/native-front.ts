import { Buffer } from 'node:buffer'
import { lookup } from 'node:dns/promises'
import process from 'node:process'
import {
  native,
  SEND_NUMBERS,
  STREAM_EVENT_NUMBERS,
  StreamEvent,
  StreamInterest,
  type Watcher,
  withSystemFailures,
} from '../../native/index.ts'
import { WakefulLoop } from '../../runtime/index.ts'
import type { ByteStream, Front, StreamOwner, TakeStream } from './byte-stream.ts'

const EVENTS_MAX = 256
/** Memory into which is received. What is kept of it keeps it all, so it is small. */
const CHUNK_BYTES = 64 * 1024
/** With less left, another one is begun. */
const ROOM_BYTES_LEAST = 16 * 1024
/**
 * For so long it looks whether its clients ask again, before the event loop has a turn: about what that takes itself.
 */
const SPIN_NS = 10_000
/** Where no descriptor is left, callers that wait are looked at again after this time. */
const ACCEPT_AGAIN_MS = 100
/** Of the kernel: MAX_TCP_KEEPIDLE. */
const KEEP_ALIVE_SECONDS_MAX = 32_767
/** Replies that are sent together: as many streams, and bytes. What is longer than a quarter of that goes alone. */
const SENDS_MAX = 256
const SEND_BYTES = 64 * 1024

/** What a front is made of. */
interface FrontParts extends NativeFrontOptions {
  readonly listener: number
  readonly set: number
}

interface NativeFrontOptions {
  /** How many threads send, this one included. */
  readonly threads?: number | undefined
  /** Runs a turn, in which all that has come on any stream is given to its owner. */
  readonly gather?: (turn: () => void) => void
}

interface StreamParts {
  readonly set: number
  readonly outbox: Outbox
  readonly descriptor: number
}

/** What is written in one turn of the event loop is sent at its end, by one call of the addon for all streams. */
class Outbox {
  readonly #threads: number
  readonly #numbers = new Int32Array(SENDS_MAX * SEND_NUMBERS)
  readonly #bytes = Buffer.allocUnsafeSlow(SEND_BYTES)
  readonly #streams: NativeStream[] = []
  #used = 0
  #isAwaited = false

  /** `threads`: how many may send. */
  constructor(threads: number) {
    this.#threads = threads
  }

  /** False if it is too much: it is to be sent alone. */
  add(stream: NativeStream, bytes: Uint8Array): boolean {
    if (bytes.length > SEND_BYTES / 4) return false
    if (this.#streams.length === SENDS_MAX || this.#used + bytes.length > SEND_BYTES) this.flush()
    const at = this.#streams.length * SEND_NUMBERS
    this.#numbers[at] = stream.descriptor
    this.#numbers[at + 1] = this.#used
    this.#numbers[at + 2] = bytes.length
    this.#bytes.set(bytes, this.#used)
    this.#used += bytes.length
    this.#streams.push(stream)
    if (!this.#isAwaited) {
      this.#isAwaited = true
      process.nextTick(() => {
        this.#isAwaited = false
        this.flush()
      })
    }
    return true
  }

  flush(): void {
    const count = this.#streams.length
    if (count === 0) return
    const numbers = this.#numbers
    native.sendStreams(numbers, count, this.#bytes, this.#threads)
    this.#used = 0
    for (const [index, stream] of this.#streams.splice(0).entries()) {
      const at = index * SEND_NUMBERS
      stream.sent(numbers[at + 2]!, this.#bytes, numbers[at + 1]!)
    }
  }
}

/**
 * A front that takes all that has come on all streams by one call of the addon. Another one sends what was written. Its
 * figures beside those of Node.js' streams are in docs/benchmarks.md.
 */
export class NativeFront implements Front {
  readonly #take: TakeStream
  readonly #gather: (turn: () => void) => void
  readonly #listener: number
  readonly #set: number
  readonly #watcher: Watcher
  readonly #streams = new Map<number, NativeStream>()
  readonly #outbox: Outbox
  readonly #events = new Int32Array(EVENTS_MAX * STREAM_EVENT_NUMBERS)
  #chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  #used = 0
  readonly #wakeful = new WakefulLoop({ poll: () => !this.#isClosed && this.#attend(SPIN_NS) })
  #isClosed = false
  #acceptAgain: NodeJS.Timeout | undefined
  #closed: (() => void) | undefined

  private constructor({ listener, set, threads = 1, gather = (turn) => turn() }: FrontParts, take: TakeStream) {
    this.#listener = listener
    this.#outbox = new Outbox(threads)
    this.#take = take
    this.#gather = gather
    this.#set = set
    native.addStream(this.#set, listener, StreamInterest.Listens | StreamInterest.Reads)
    this.#watcher = native.createWatcher(() => {
      this.#watcher.rearm(0)
      this.#attend(0)
    })
    this.#watcher.add(0, this.#set)
    this.#watcher.ref()
  }

  /** @throws SystemError if it cannot listen there. */
  static async open(
    address: string,
    port: number,
    take: TakeStream,
    options: NativeFrontOptions = {},
  ): Promise<NativeFront> {
    const found = await withSystemFailures(() => lookup(address))
    const listener = native.listenStream(found.address, port)
    let set: number | undefined
    try {
      set = native.createStreamSet()
      return new NativeFront({ ...options, listener, set }, take)
    } catch (error) {
      // There may be no descriptor left.
      for (const each of [listener, set]) if (each !== undefined) native.closeDescriptor(each)
      throw error
    }
  }

  get port(): number {
    return Number(native.streamAddress(this.#listener, false).split(':').at(-1))
  }

  async close(): Promise<void> {
    clearTimeout(this.#acceptAgain)
    native.closeDescriptor(this.#listener)
    if (this.#streams.size > 0)
      await new Promise<void>((resolve) => {
        this.#closed = resolve
      })
    // Their owners are told in the next turn.
    await new Promise<void>((resolve) => setImmediate(resolve))
    this.#isClosed = true
    this.#watcher.close()
    native.closeDescriptor(this.#set)
  }

  /** One batch: what is left is told of again, after others have had their turn. False if nothing has come. */
  #attend(spinNs: number): boolean {
    if (CHUNK_BYTES - this.#used < ROOM_BYTES_LEAST) {
      this.#chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
      this.#used = 0
    }
    const start = this.#used
    const count = native.pollStreams(this.#set, this.#events, this.#chunk.subarray(start), spinNs)
    if (count === 0) return false
    this.#wakeful.came()
    this.#gather(() => this.#tell(count, start))
    this.#outbox.flush()
    return true
  }

  /** Tell the owners of streams. `start`: where bytes that have come begin. */
  #tell(count: number, start: number): void {
    const chunk = this.#chunk
    const events = this.#events
    for (let at = 0; at < count * STREAM_EVENT_NUMBERS; at += STREAM_EVENT_NUMBERS) {
      const descriptor = events[at]!
      const kind = events[at + 1]!
      const number = events[at + 3]!
      if (kind === StreamEvent.Received) {
        const offset = start + events[at + 2]!
        const isKept = this.#streams.get(descriptor)?.received(chunk.subarray(offset, offset + number)) ?? false
        if (isKept) this.#used = offset + number
      } else if (kind === StreamEvent.Accepted) this.#accepted(descriptor)
      else if (kind === StreamEvent.NotAccepted) this.#notAccepted()
      else if (kind === StreamEvent.Writable) this.#streams.get(descriptor)?.writable()
      else this.#streams.get(descriptor)?.destroy()
    }
  }

  #accepted(descriptor: number): void {
    const stream = new NativeStream({ set: this.#set, outbox: this.#outbox, descriptor }, () => {
      this.#streams.delete(descriptor)
      if (this.#streams.size === 0) this.#closed?.()
    })
    this.#streams.set(descriptor, stream)
    this.#take(stream)
  }

  /** Mostly there are no descriptors. A listener that stays ready would take all turns. */
  #notAccepted(): void {
    native.changeStream(this.#set, this.#listener, StreamInterest.Listens)
    this.#acceptAgain = setTimeout(() => {
      native.changeStream(this.#set, this.#listener, StreamInterest.Listens | StreamInterest.Reads)
    }, ACCEPT_AGAIN_MS)
  }
}

class NativeStream implements ByteStream {
  readonly address: string
  readonly localAddress: string
  readonly descriptor: number
  readonly #set: number
  readonly #outbox: Outbox
  readonly #onClosed: () => void
  #owner: StreamOwner | undefined
  /** What was written and is not sent. */
  #unsent: Uint8Array[] = []
  #unsentBytes = 0
  /** Bytes of it in the outbox. */
  #queuedBytes = 0
  #isReading = true
  #isEnding = false
  #isOpen = true

  /** `onClosed` is called when its descriptor is closed: the system may give the same number again. */
  constructor({ set, outbox, descriptor }: StreamParts, onClosed: () => void) {
    this.#set = set
    this.#outbox = outbox
    this.descriptor = descriptor
    this.#onClosed = onClosed
    this.address = native.streamAddress(descriptor, true)
    this.localAddress = native.streamAddress(descriptor, false)
  }

  get isWritable(): boolean {
    return this.#isOpen && !this.#isEnding
  }

  get unsentBytes(): number {
    return this.#unsentBytes
  }

  begin(owner: StreamOwner, keepAliveSeconds: number): void {
    this.#owner = owner
    if (keepAliveSeconds > 0)
      native.keepStreamAlive(this.descriptor, Math.min(keepAliveSeconds, KEEP_ALIVE_SECONDS_MAX))
  }

  /** Called by its front. */
  received(piece: Buffer): boolean {
    return this.#isReading && this.#owner?.received(piece) === true
  }

  /** Called by its front. */
  writable(): void {
    let sent = 0
    for (const bytes of this.#unsent) {
      const taken = this.#send(bytes)
      if (!this.#isOpen) return
      if (taken < bytes.length) {
        this.#unsent[sent] = bytes.subarray(taken)
        break
      }
      sent += 1
    }
    this.#unsent.splice(0, sent)
    if (this.#unsent.length > 0) return
    if (this.#isEnding) this.#finish()
    else {
      this.#watch()
      this.#owner?.drained()
    }
  }

  write(bytes: Uint8Array): void {
    if (this.#queuedBytes > 0) this.#outbox.flush()
    if (!this.isWritable) return
    if (this.#unsent.length === 0 && this.#outbox.add(this, bytes)) {
      this.#queuedBytes = bytes.length
      return
    }
    this.#unsentBytes += bytes.length
    const taken = this.#unsent.length > 0 ? 0 : this.#send(bytes)
    if (this.#isOpen && taken < bytes.length) this.#keep(bytes.subarray(taken))
  }

  /** Called by the outbox. `taken`: how many of its bytes, which begin at `begin`, were sent; or a negative errno. */
  sent(taken: number, bytes: Uint8Array, begin: number): void {
    const end = begin + this.#queuedBytes
    this.#queuedBytes = 0
    if (taken < 0) this.destroy()
    else if (begin + taken < end) {
      this.#unsentBytes += end - begin - taken
      this.#keep(bytes.subarray(begin + taken, end))
    }
  }

  setReading(isReading: boolean): void {
    if (isReading === this.#isReading || !this.#isOpen) return
    this.#isReading = isReading
    this.#watch()
  }

  end(): void {
    if (this.#queuedBytes > 0) this.#outbox.flush()
    if (!this.isWritable) return
    this.setReading(false)
    this.#isEnding = true
    if (this.#unsent.length === 0) this.#finish()
  }

  destroy(): void {
    // The system may give its descriptor to something else.
    if (this.#queuedBytes > 0) this.#outbox.flush()
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#unsent = []
    this.#unsentBytes = 0
    native.closeDescriptor(this.descriptor)
    this.#onClosed()
    // Its owner may be in the middle of something.
    process.nextTick(() => this.#owner?.closed())
  }

  #keep(bytes: Uint8Array): void {
    this.#unsent.push(Uint8Array.prototype.slice.call(bytes))
    if (this.#unsent.length === 1) this.#watch()
  }

  #finish(): void {
    native.endStream(this.descriptor)
    this.destroy()
  }

  /** How many bytes were taken. */
  #send(bytes: Uint8Array): number {
    const sent = native.sendStream(this.descriptor, bytes)
    if (sent < 0) {
      this.destroy()
      return 0
    }
    this.#unsentBytes -= sent
    return sent
  }

  #watch(): void {
    const reads = this.#isReading ? StreamInterest.Reads : 0
    const writes = this.#unsent.length > 0 ? StreamInterest.Writes : 0
    native.changeStream(this.#set, this.descriptor, reads | writes)
  }
}

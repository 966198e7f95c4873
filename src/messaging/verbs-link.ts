import { ArgumentError } from '../native/index.ts'
import {
  Access,
  CompletionBatch,
  CompletionError,
  type CompletionQueue,
  CompletionStatus,
  type MemoryRegion,
  type PreparedReceive,
  type PreparedRequest,
  type QueuePair,
} from '../verbs/index.ts'
import type { Departures } from './departures.ts'
import { LinkError, ProtocolViolation } from './errors.ts'
import type { Hello } from './hello.ts'
import { CREDIT_BYTES, emptyReceive, type LinkEnd } from './link-end.ts'
import type { CompletionMode } from './link-options.ts'
import { type MemoryLending, VerbsLending } from './memory-lending.ts'
import type { LocalRange, RegisteredBuffer, RemoteAddress } from './message-link.ts'
import type { Progressing } from './progress-loop.ts'
import { RingLink } from './ring-link.ts'
import { UNIT_BYTES } from './ring-record.ts'
import { sendLimiter } from './send-limit.ts'
import { PEER_RIGHTS, segmentOf, VerbsBuffer } from './verbs-buffer.ts'

/** The two highest bits of an immediate say what it is; those below, how many units have come. */
const SIGNAL_SHIFT = 30
const UNITS_MASK = 0x3fffffff
const Signal = { Bytes: 0, Want: 1, Wake: 2, Close: 3 } as const
/** Requests of which nobody needs to hear complete without a word, but for one in so many of the queue. */
const SIGNALED_PART = 4
const BATCH = 64

/** What a link needs of whoever made its connection. */
export interface LinkCarrier {
  /** Have `advance` called in the next turn. */
  wakeSoon(link: Progressing): void
  /** The link has ended: give the queue pair back. */
  release(link: Progressing): void
  /** Keep the domain open, also without the link, until what it gives is called. Where it is missing, the domain is the program's own. */
  hold?(): () => void
  /** The order among links over this device. */
  readonly departures?: Departures
}

/** Called once with the end of an operation: undefined where it was carried out. */
export type OperationDone = (error: unknown) => void

interface Operation {
  readonly request: PreparedRequest
  readonly name: string
  readonly done: OperationDone
}

/** A link over a connected queue pair. */
export class VerbsLink extends RingLink {
  readonly pair: QueuePair
  readonly throughSharedMemory: boolean
  readonly completion: CompletionMode
  readonly closeTimeoutMs: number
  /** What the peer sent along beside this room's own, filled up with zeros. */
  readonly privateData: Uint8Array
  readonly #end: LinkEnd
  readonly #peer: Hello
  readonly #carrier: LinkCarrier
  readonly #outgoingMemory: MemoryRegion
  readonly #credit: Uint32Array
  readonly #creditOut: Uint32Array
  readonly #batch = new CompletionBatch(BATCH)
  readonly #sends: number
  readonly #signalEvery: number
  readonly #inlineBytes: number
  readonly #inlineStage: Uint8Array
  /** By length in units: the first bytes of the stage, as a list of segments. */
  readonly #inlineViews: (readonly [Uint8Array])[] = []
  readonly #receive: PreparedReceive
  readonly #plainWrite: PreparedRequest
  readonly #tellingWrite: PreparedRequest
  readonly #inlineWrite: PreparedRequest
  readonly #creditWrite: PreparedRequest
  readonly #wakingWrite: PreparedRequest
  readonly #signalWrite: PreparedRequest
  readonly #probe: PreparedRequest
  readonly #keepAlive: NodeJS.Timeout | undefined
  readonly #operations = new Map<number, Operation>()
  /** Operations for which the send queue had no room. */
  readonly #waiting: Operation[] = []
  /** Carried out, and their programs not told yet. */
  #settled: Operation[] = []
  /** Requests posted, and those known to be done; the id of a request is its number. */
  #posted = 0
  #done = 0
  #lastSignaled = 0
  /** The request that says `close`. */
  #closeId = 0
  #seenUnits = 0
  #seenReceives = 0
  /** Receives used up and not posted again. */
  #spent = 0
  #completions = 0
  #completionsAtProbe = 0
  #lending: VerbsLending | undefined
  #flushed = false
  #takingDown = false

  /** @internal `pair` is connected to the peer that said `peer`; `end` and its memory are the link's from now on. */
  constructor(end: LinkEnd, pair: QueuePair, peer: Hello, carrier: LinkCarrier, privateData: Uint8Array) {
    const { settings, domain, memory } = end
    const outgoingMemory = domain.allocate(peer.ringBytes + CREDIT_BYTES, Access.LocalWrite)
    super({
      outgoing: outgoingMemory.bytes.subarray(0, peer.ringBytes),
      incoming: memory.bytes.subarray(0, settings.ringBytes),
      peerReceives: peer.receives,
      receives: settings.receives,
      limiter: sendLimiter(settings.sendLimit),
      departures: carrier.departures,
      weight: settings.weight,
      priority: settings.priority,
    })
    this.pair = pair
    this.throughSharedMemory = pair.domain.device.attributes.provider === 'shm'
    this.completion = settings.completion
    this.closeTimeoutMs = settings.closeTimeoutMs
    this.privateData = privateData
    this.#end = end
    this.#peer = peer
    this.#carrier = carrier
    this.#outgoingMemory = outgoingMemory
    this.#credit = countsAt(memory, settings.ringBytes)
    this.#creditOut = countsAt(outgoingMemory, peer.ringBytes)
    this.#sends = pair.capacities.maxSendRequests
    this.#signalEvery = Math.max(1, Math.floor(this.#sends / SIGNALED_PART))
    this.#inlineBytes = end.pairOptions.maxInlineBytes
    this.#inlineStage = new Uint8Array(this.#inlineBytes)
    for (let bytes = 0; bytes <= this.#inlineBytes; bytes += UNIT_BYTES)
      this.#inlineViews.push([this.#inlineStage.subarray(0, bytes)])
    this.#receive = emptyReceive(pair)
    const ring = { address: peer.address, key: peer.key }
    const local = outgoingMemory.subarray(0, UNIT_BYTES)
    this.#plainWrite = pair.prepareWrite({ local, remote: ring })
    this.#tellingWrite = pair.prepareWrite({ local, remote: ring, immediate: 0 })
    this.#inlineWrite =
      this.#inlineBytes === 0
        ? this.#tellingWrite
        : pair.prepareWrite({ local: [this.#inlineStage], remote: ring, immediate: 0, inline: true })
    const counts = { address: peer.address + peer.ringBytes, key: peer.key }
    const creditOut = outgoingMemory.subarray(peer.ringBytes, peer.ringBytes + CREDIT_BYTES)
    this.#creditWrite = pair.prepareWrite({ local: creditOut, remote: counts })
    this.#wakingWrite = pair.prepareWrite({ local: creditOut, remote: counts, immediate: signal(Signal.Wake) })
    this.#signalWrite = pair.prepareWrite({ local: [], remote: ring, immediate: 0 })
    this.#probe = pair.prepareWrite({ local: [], remote: ring })
    if (settings.keepAliveMs > 0)
      this.#keepAlive = setInterval(() => this.#askAfterPeer(), settings.keepAliveMs).unref()
  }

  protected override get label(): string {
    return `queue pair ${this.pair.number}`
  }

  /** @internal Where its completions arrive. */
  get queue(): CompletionQueue {
    return this.#end.queue
  }

  /** @internal Look at what has come; how many completions. */
  advance(): number {
    const before = this.#completions
    this.pollInTurn()
    return this.#completions - before
  }

  /** @internal The connection was lost or taken down. */
  connectionClosed(why: string): void {
    this.lose(why)
  }

  override close(): Promise<void> {
    if (!this.open) return Promise.resolve()
    const { closeTimeoutMs } = this
    const timer = setTimeout(() => {
      this.finish(new LinkError('lost', 'unknown', `the peer did not take what was sent within ${closeTimeoutMs} ms`))
    }, closeTimeoutMs)
    return super.close().finally(() => clearTimeout(timer))
  }

  allocate(lengthBytes: number): RegisteredBuffer {
    return VerbsBuffer.allocate(this.#end.domain, lengthBytes)
  }

  register(memory: Uint8Array): RegisteredBuffer {
    return new VerbsBuffer(this.#end.domain.register(memory, PEER_RIGHTS))
  }

  get lending(): MemoryLending {
    const { domain, settings } = this.#end
    const hold = (): (() => void) => this.#carrier.hold?.() ?? (() => {})
    this.#lending ??= new VerbsLending(this, domain, hold, settings.lending)
    return this.#lending
  }

  read(local: LocalRange, remote: RemoteAddress): Promise<void> {
    return this.#operate('read', () => this.pair.prepareRead({ local: segmentOf(local), remote }))
  }

  write(local: LocalRange, remote: RemoteAddress): Promise<void> {
    return this.#operate('write', () => this.pair.prepareWrite({ local: segmentOf(local), remote }))
  }

  /**
   * Post a request, now or as soon as the send queue has room, in order with messages; `done` is told of its end by a later `poll` or `reap`. Throws LinkError once the
   * link has ended.
   */
  post(name: string, request: PreparedRequest, done: OperationDone): void {
    if (!this.open) throw new LinkError('lost', 'none', `the link has ended before the ${name}`)
    this.flush()
    this.#waiting.push({ request, name, done })
    this.#startWaiting()
    this.wakeSoon()
  }

  /** Take completions, and tell operations of their end, without delivering messages: for who waits inside a handler. */
  reap(): void {
    if (!this.open) return
    try {
      this.progress()
    } catch (error) {
      this.fail(error)
    }
  }

  // ---- what the protocol has sent ----------------------------------------------------------------------------------------------

  protected transmit(offset: number, first: number, rest: number): boolean {
    if (!this.#hasRoom(rest > 0 ? 2 : 1)) return false
    const { address, localKey } = this.#outgoingMemory
    const immediate = (first + rest) / UNIT_BYTES
    if (rest === 0) {
      const request = first <= this.#inlineBytes ? this.#stage(offset, first) : this.#tellingWrite
      if (request === this.#tellingWrite) request.setSegment(0, address + offset, first, localKey)
      request.remoteAddress = this.#peer.address + offset
      request.immediate = immediate
      this.#post(request)
      return true
    }
    this.#plainWrite.setSegment(0, address + offset, first, localKey)
    this.#plainWrite.remoteAddress = this.#peer.address + offset
    this.#post(this.#plainWrite)
    this.#tellingWrite.setSegment(0, address, rest, localKey)
    this.#tellingWrite.remoteAddress = this.#peer.address
    this.#tellingWrite.immediate = immediate
    this.#post(this.#tellingWrite)
    return true
  }

  protected transmitCredit(bytes: number, receives: number, wake: boolean): boolean {
    if (!this.#hasRoom(1)) return false
    this.#repost()
    this.#creditOut[0] = (this.#creditOut[0] as number) + bytes / UNIT_BYTES
    this.#creditOut[1] = (this.#creditOut[1] as number) + receives
    this.#post(wake ? this.#wakingWrite : this.#creditWrite)
    return true
  }

  protected transmitWant(): boolean {
    return this.#transmitSignal(Signal.Want, false)
  }

  protected transmitClose(): boolean {
    if (!this.#transmitSignal(Signal.Close, true)) return false
    this.#closeId = this.#posted
    return true
  }

  /** Credit for what came after our `close` is not waited for: it completes without a word, and the peer's `close` says that it was enough. */
  protected drained(): boolean {
    return this.#done >= this.#closeId
  }

  protected progress(): void {
    const batch = this.#batch
    for (let rows = BATCH; rows === BATCH; ) {
      rows = this.#end.queue.poll(batch)
      this.#completions += rows
      for (let row = 0; row < rows; row += 1) {
        if (batch.status[row] !== CompletionStatus.Success) this.#failed(batch, row)
        else if (batch.id[row] === 0) this.#received(batch.immediate[row] as number)
        else this.#completed(batch.id[row] as number)
      }
    }
    this.#startWaiting()
    this.#tellSettled()
    if (this.#flushed) this.#takenDown()
  }

  protected readCredit(): void {
    const units = Atomics.load(this.#credit, 0)
    const receives = Atomics.load(this.#credit, 1)
    if (units === this.#seenUnits && receives === this.#seenReceives) return
    // Counts only grow. A WRITE whose bytes are seen later than those of the next one takes them back for a while: what was read stays true.
    const moreReceives = Math.max(0, (receives - this.#seenReceives) | 0)
    const moreUnits = Math.max(0, (units - this.#seenUnits) | 0)
    if (moreReceives > this.#peer.receives)
      throw new ProtocolViolation(`the peer posted ${moreReceives} receives again`)
    const moreBytes = moreUnits * UNIT_BYTES
    this.#seenUnits = (this.#seenUnits + moreUnits) >>> 0
    this.#seenReceives = (this.#seenReceives + moreReceives) >>> 0
    this.cameCredit(moreBytes, moreReceives)
  }

  protected wakeSoon(): void {
    this.#carrier.wakeSoon(this)
  }

  protected release(inOrder: boolean): void {
    clearInterval(this.#keepAlive)
    const what = inOrder ? 'the link was closed' : 'the link ended'
    const error = new LinkError('lost', 'unknown', `${what} before the operation was done`)
    this.#tellSettled()
    const left = [...this.#operations.values(), ...this.#waiting.splice(0)]
    this.#operations.clear()
    for (const operation of left) operation.done(error)
    const closePair = (): void => this.#carrier.release(this)
    if (this.#lending === undefined) closePair()
    else this.#lending.linkEnded(closePair)
    this.#end.queue.close()
    // Handlers that are running may look at the memory until they return.
    setImmediate(() => {
      this.#end.memory.close()
      this.#outgoingMemory.close()
    })
  }

  // ---- inside ------------------------------------------------------------------------------------------------------------------

  /** The queue pair was led to the error state. Whoever did that says why in this turn, unless it was the peer's answer to our own end. */
  #takenDown(): void {
    if (this.#takingDown) return
    this.#takingDown = true
    setImmediate(() => this.connectionClosed('the connection was taken down'))
  }

  #hasRoom(requests: number): boolean {
    if (this.#posted - this.#done + requests > this.#sends) this.progress()
    return this.#posted - this.#done + requests <= this.#sends && this.#waiting.length === 0
  }

  #post(request: PreparedRequest): void {
    const id = this.#posted + 1
    const signaled = id - this.#lastSignaled >= this.#signalEvery
    if (request.signaled !== signaled) request.signaled = signaled
    request.post(id)
    this.#posted = id
    if (signaled) this.#lastSignaled = id
  }

  #postSignaled(request: PreparedRequest): number {
    const id = this.#posted + 1
    request.signaled = true
    request.post(id)
    this.#posted = id
    this.#lastSignaled = id
    return id
  }

  #transmitSignal(what: number, signaled: boolean): boolean {
    if (!this.#hasRoom(1)) return false
    this.#repost()
    this.#signalWrite.immediate = signal(what)
    if (signaled) this.#postSignaled(this.#signalWrite)
    else this.#post(this.#signalWrite)
    return true
  }

  #stage(offset: number, bytes: number): PreparedRequest {
    const stage = this.#inlineStage
    const { outgoing } = this
    for (let at = 0; at < bytes; at += 1) stage[at] = outgoing[offset + at] as number
    this.#inlineWrite.setLocal(this.#inlineViews[bytes / UNIT_BYTES] as readonly [Uint8Array])
    return this.#inlineWrite
  }

  #repost(): void {
    if (this.#spent === 0) return
    this.pair.postReceiveList(new Array<PreparedReceive>(this.#spent).fill(this.#receive))
    this.#spent = 0
  }

  #received(immediate: number): void {
    this.#spent += 1
    const what = immediate >>> SIGNAL_SHIFT
    if (what === Signal.Bytes) {
      const units = immediate & UNITS_MASK
      if (units === 0) throw new ProtocolViolation('the peer told of nothing')
      this.cameBytes(units * UNIT_BYTES)
    } else if ((immediate & UNITS_MASK) !== 0) throw new ProtocolViolation(`the peer sent the immediate ${immediate}`)
    else if (what === Signal.Want) this.cameWant()
    else if (what === Signal.Wake) this.cameWake()
    else this.cameClose()
  }

  #completed(id: number): void {
    this.#done = id
    const operation = this.#operations.get(id)
    if (operation === undefined) return
    this.#operations.delete(id)
    this.#settled.push(operation)
  }

  /** After the batch was read, since they may wait for further operations. */
  #tellSettled(): void {
    if (this.#settled.length === 0) return
    const settled = this.#settled
    this.#settled = []
    for (const operation of settled) operation.done(undefined)
  }

  #failed(batch: CompletionBatch, row: number): void {
    if (this.peerClosed) {
      this.#done = this.#posted
      return
    }
    const status = batch.status[row] as number
    if (status === CompletionStatus.WorkRequestFlushed) {
      this.#flushed = true
      return
    }
    const id = batch.id[row] as number
    const operation = this.#operations.get(id)
    const cause = new CompletionError(
      operation?.name ?? 'message',
      status,
      batch.vendorError[row] as number,
      this.pair.number,
    )
    const error = new LinkError('lost', 'unknown', cause.message, { cause })
    this.#operations.delete(id)
    operation?.done(error)
    throw error
  }

  #operate(name: string, prepare: () => PreparedRequest): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.post(name, prepare(), (error) => {
        if (error === undefined) resolve()
        else reject(error)
      })
    })
  }

  #startWaiting(): void {
    while (this.#waiting.length > 0 && this.#posted - this.#done < this.#sends) {
      const operation = this.#waiting.shift() as Operation
      try {
        this.#operations.set(this.#postSignaled(operation.request), operation)
      } catch (error) {
        operation.done(error)
      }
    }
  }

  /** An answer, or the retries' end, comes as a completion; nothing else would tell that a silent peer's machine is gone. */
  #askAfterPeer(): void {
    const quiet = this.#completions === this.#completionsAtProbe
    this.#completionsAtProbe = this.#completions
    if (!quiet || !this.open) return
    try {
      if (this.#hasRoom(1)) this.#postSignaled(this.#probe)
    } catch (error) {
      this.fail(error)
    }
  }
}

function signal(what: number): number {
  return (what << SIGNAL_SHIFT) >>> 0
}

function countsAt(memory: MemoryRegion, offset: number): Uint32Array {
  const { bytes } = memory
  if ((bytes.byteOffset & 7) !== 0) throw new ArgumentError('memory', 'rings begin at a multiple of 8')
  return new Uint32Array(bytes.buffer, bytes.byteOffset + offset, 2)
}

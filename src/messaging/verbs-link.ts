import { mustBe } from '../native/index.ts'
import {
  Access,
  type CompletionBatch,
  CompletionError,
  type CompletionQueue,
  CompletionStatus,
  type MemoryRegion,
  PreparedRequest,
  type QueuePair,
} from '../verbs/index.ts'
import { closeSurely } from './close-surely.ts'
import { CREDIT_BYTES, CreditWords, countsAt } from './credit-words.ts'
import type { Departures } from './departures.ts'
import { LinkError, ProtocolViolation } from './errors.ts'
import type { Hello } from './hello.ts'
import type { LinkEnd } from './link-end.ts'
import type { CompletionMode } from './link-options.ts'
import { RECEIVE_ID } from './link-receives.ts'
import { type MemoryLending, VerbsLending } from './memory-lending.ts'
import { checkRemote } from './memory-range.ts'
import type { LocalRange, RegisteredBuffer, RemoteAddress } from './message-link.ts'
import type { Progressing } from './progress-loop.ts'
import { RingLink } from './ring-link.ts'
import { UNIT_BYTES } from './ring-record.ts'
import { sendLimiter } from './send-limit.ts'
import { type OperationDone, SendRequests } from './send-requests.ts'
import { argumentOf, isSignal, Signal, signalImmediate, signalOf } from './signal.ts'
import { PEER_RIGHTS, segmentOf, VerbsBuffer } from './verbs-buffer.ts'

/** What a link needs from the maker of its connection. */
export interface LinkCarrier {
  /** Call `advance` in the next turn. */
  wakeSoon(link: Progressing): void
  /**
   * The link has ended: release the queue pair, and call `closed` when it is gone. `isDrained`: nothing is under way
   * any more from the peer.
   */
  release(link: Progressing, closed: () => void, isDrained: boolean): void
  /**
   * Keep the domain open, even without the link, until the returned function is called. Missing if the domain is the
   * program's own.
   */
  hold?(): () => void
  /** The order among links over this device. */
  readonly departures?: Departures
}

/** A link over a connected queue pair. */
export class VerbsLink extends RingLink {
  readonly pair: QueuePair
  readonly throughSharedMemory: boolean
  readonly completion: CompletionMode
  readonly closeTimeoutMs: number
  /** What the peer sent along beside this room's own data, padded with zeros. */
  readonly privateData: Uint8Array
  readonly #end: LinkEnd
  readonly #carrier: LinkCarrier
  readonly #outgoingMemory: MemoryRegion
  readonly #outgoingAddress: number
  readonly #peerAddress: number
  readonly #peerRing: RemoteAddress
  readonly #credit: CreditWords
  readonly #creditOut: Uint32Array
  readonly #requests: SendRequests
  readonly #inlineBytes: number
  readonly #inlineStage: Uint8Array
  /** By length in units: the first bytes of the stage, as a list of segments. */
  readonly #inlineViews: (readonly [Uint8Array])[] = []
  readonly #plainWrite: PreparedRequest
  readonly #tellingWrite: PreparedRequest
  readonly #inlineWrite: PreparedRequest
  readonly #creditWrite: PreparedRequest
  readonly #wakingWrite: PreparedRequest
  readonly #signalWrite: PreparedRequest
  readonly #probe: PreparedRequest
  readonly #keepAlive: NodeJS.Timeout | undefined
  /** Infinity: never. */
  readonly #keepAliveMs: number
  #askedMs: number
  /** The request that says `close`. */
  #closeId = 0
  #completions = 0
  #completionsAtProbe = 0
  #lending: VerbsLending | undefined
  #flushed = false
  /** What is wrong with a completion that was taken; it ends the link with the next poll. */
  #trouble: Error | undefined
  #takingDown = false
  readonly #peerText: string | undefined

  /**
   * @internal `pair` is connected to the peer that sent `peer`. `end` and its memory belong to the link from now on.
   */
  constructor(
    end: LinkEnd,
    pair: QueuePair,
    peer: Hello,
    carrier: LinkCarrier,
    privateData: Uint8Array,
    peerText?: string,
  ) {
    const { settings, domain, memory } = end
    const outgoingBytes = end.outgoingBytes(peer)
    const outgoingMemory = domain.allocate(outgoingBytes + CREDIT_BYTES, Access.LocalWrite)
    super({
      outgoing: outgoingMemory.bytes.subarray(0, outgoingBytes),
      incoming: memory.bytes.subarray(0, end.incomingBytes(peer)),
      peerReceives: peer.receives,
      peerReceivesMax: peer.receivesMax,
      receives: end.receives.budget,
      limiter: sendLimiter(settings.sendLimit),
      departures: carrier.departures,
      weight: settings.weight,
      priority: settings.priority,
    })
    this.pair = pair
    this.#peerText = peerText
    this.throughSharedMemory = pair.domain.device.attributes.provider === 'shm'
    this.completion = settings.completion
    this.closeTimeoutMs = settings.closeTimeoutMs
    this.privateData = privateData
    this.#end = end
    this.#carrier = carrier
    this.#outgoingMemory = outgoingMemory
    this.#outgoingAddress = outgoingMemory.address
    this.#peerAddress = peer.address
    this.#credit = new CreditWords(memory, settings.ringBytes)
    this.#creditOut = countsAt(outgoingMemory, outgoingBytes)
    // A device may give more than was asked for; what its completion queue holds is not more.
    this.#requests = new SendRequests(settings.sends)
    this.#inlineBytes = end.pairOptions.maxInlineBytes
    this.#inlineStage = new Uint8Array(this.#inlineBytes)
    for (let bytes = 0; bytes <= this.#inlineBytes; bytes += UNIT_BYTES)
      this.#inlineViews.push([this.#inlineStage.subarray(0, bytes)])
    const ring = { address: peer.address, key: peer.key }
    this.#peerRing = ring
    const local = outgoingMemory.subarray(0, UNIT_BYTES)
    this.#plainWrite = pair.prepareWrite({ local, remote: ring })
    this.#tellingWrite = pair.prepareWrite({ local, remote: ring, immediate: 0 })
    this.#inlineWrite =
      this.#inlineBytes === 0
        ? this.#tellingWrite
        : pair.prepareWrite({ local: [this.#inlineStage], remote: ring, immediate: 0, inline: true })
    const counts = { address: peer.address + peer.ringBytes, key: peer.key }
    const creditOut = outgoingMemory.subarray(outgoingBytes, outgoingBytes + CREDIT_BYTES)
    this.#creditWrite = pair.prepareWrite({ local: creditOut, remote: counts })
    this.#wakingWrite = pair.prepareWrite({
      local: creditOut,
      remote: counts,
      immediate: signalImmediate(Signal.Wake),
    })
    this.#signalWrite = pair.prepareWrite({ local: [], remote: ring, immediate: 0 })
    this.#probe = pair.prepareWrite({ local: [], remote: ring })
    if (settings.keepAliveMs > 0)
      this.#keepAlive = setInterval(() => this.#askAfterPeer(performance.now()), settings.keepAliveMs).unref()
    this.#keepAliveMs = settings.keepAliveMs > 0 ? settings.keepAliveMs : Number.POSITIVE_INFINITY
    this.#askedMs = performance.now()
    end.receives.attach(this)
  }

  protected override get label(): string {
    return `queue pair ${this.pair.number}`
  }

  /** @internal Address and port, if the connection manager knows them. */
  override get peerText(): string {
    return this.#peerText ?? this.label
  }

  /** @internal Where its completions arrive. */
  get queue(): CompletionQueue {
    return this.#end.receives.queue
  }

  /** @internal Process what has come. Returns how many completions. */
  advance(): number {
    const before = this.#completions
    this.pollInTurn()
    return this.#completions - before
  }

  /** @internal The connection was lost or closed. */
  connectionClosed(why: string): void {
    this.lose(why)
  }

  /** As in {@link MessageLink.close}; `before` and the peer share one `closeTimeoutMs`. */
  override close(before?: Promise<void>): Promise<void> {
    if (!this.open) return Promise.resolve()
    const closing = super.close(before)
    const { closeTimeoutMs } = this
    const timer = setTimeout(() => {
      this.finish(
        new LinkError(
          'lost',
          'unknown',
          `the peer did not take all messages within ${closeTimeoutMs} ms (closeTimeoutMs)`,
        ),
      )
    }, closeTimeoutMs)
    return closing.finally(() => clearTimeout(timer))
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
    return this.#operate('read', remote, () => this.pair.prepareRead({ local: segmentOf(local), remote }))
  }

  write(local: LocalRange, remote: RemoteAddress): Promise<void> {
    return this.#operate('write', remote, () => this.pair.prepareWrite({ local: segmentOf(local), remote }))
  }

  /**
   * Resolves when no finished READ of this end can reach the peer's memory any more. Await it before you tell the peer
   * that it may take that memory back.
   *
   * 1. A device repeats a READ whose answer seems lost, and networks repeat packets.
   * 2. If the key is gone when such a request arrives, the peer's device refuses it, which ends the connection.
   * 3. Answers come in the order of the requests. So the answer to a READ of nothing, posted now, comes behind all
   *    others.
   *
   * Resolves at once if no packets travel. Rejects with a LinkError if the link ends first.
   */
  fenceReads(): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.postReadFence((error) => (error === undefined ? resolve() : reject(error)))
    })
  }

  /** @internal The same, reported by a call: at once, or from a later `poll`. */
  postReadFence(done: OperationDone): void {
    this.checkOpen('read')
    checkDone(done)
    if (this.throughSharedMemory) done(undefined)
    else this.post('read', this.pair.prepareRead({ local: [], remote: this.#peerRing }), done)
  }

  /**
   * Post a request, now or as soon as the send queue has room, in order with messages. A later `poll` or `reap` calls
   * `done` when it ends. If the messages before it cannot leave, which ends the link, `done` is called at once. Throws
   * LinkError once the link has ended.
   */
  post(name: string, request: PreparedRequest, done: OperationDone): void {
    this.checkOpen(name)
    if (!(request instanceof PreparedRequest)) throw mustBe('request', 'a request that `pair` has prepared', request)
    checkDone(done)
    this.flush()
    const operation = { request, name, done }
    if (!this.open) {
      this.#requests.refuse(operation, endedBefore(name))
      return
    }
    this.#requests.operate(operation)
    this.wakeSoon()
  }

  /**
   * @internal Throws LinkError once the link has ended. Call it before making a request, which needs the queue pair.
   */
  checkOpen(name: string): void {
    if (!this.open) throw endedBefore(name)
  }

  /**
   * Take completions, and report the end of operations, without delivering messages. For callers that wait inside a
   * handler.
   */
  reap(): void {
    if (!this.open) return
    try {
      this.progress(false)
    } catch (error) {
      this.fail(error)
    }
  }

  // ---- what the protocol has sent
  // ----------------------------------------------------------------------------------------------

  protected transmit(offset: number, first: number, rest: number): boolean {
    if (!this.#hasRoom(rest > 0 ? 2 : 1)) return false
    const immediate = (first + rest) / UNIT_BYTES
    if (rest === 0 && first > this.#inlineBytes) {
      this.#requests.postNext(
        this.#tellingWrite,
        this.#outgoingAddress + offset,
        first,
        this.#peerAddress + offset,
        immediate,
      )
      return true
    }
    if (rest === 0) {
      const request = this.#stage(offset, first)
      request.remoteAddress = this.#peerAddress + offset
      request.immediate = immediate
      this.#requests.post(request)
      return true
    }
    const { address, localKey } = this.#outgoingMemory
    this.#plainWrite.setSegment(0, address + offset, first, localKey)
    this.#plainWrite.remoteAddress = this.#peerAddress + offset
    this.#requests.post(this.#plainWrite)
    this.#tellingWrite.setSegment(0, address, rest, localKey)
    this.#tellingWrite.remoteAddress = this.#peerAddress
    this.#tellingWrite.immediate = immediate
    this.#requests.post(this.#tellingWrite)
    return true
  }

  protected transmitCredit(bytes: number, receives: number, wake: boolean): boolean {
    if (!this.#hasRoom(1)) return false
    this.#end.receives.repost()
    this.#creditOut[0] = this.#creditOut[0]! + bytes / UNIT_BYTES
    this.#creditOut[1] = this.#creditOut[1]! + receives
    this.#requests.post(wake ? this.#wakingWrite : this.#creditWrite)
    return true
  }

  protected transmitSignal(signal: number, argument: number): boolean {
    if (!this.#hasRoom(1)) return false
    this.#end.receives.repost()
    this.#signalWrite.immediate = signalImmediate(signal as Signal, argument)
    if (signal === Signal.Close) this.#closeId = this.#requests.postSignaled(this.#signalWrite)
    else this.#requests.post(this.#signalWrite)
    return true
  }

  /**
   * Credit for what came after our `close` is not waited for: it completes without a word, and the peer's `close` says
   * that it was enough.
   */
  protected drained(): boolean {
    return this.#requests.done >= this.#closeId
  }

  /** @internal */
  take(batch: CompletionBatch, row: number): void {
    this.#completions += 1
    if (batch.status[row] !== CompletionStatus.Success) this.#failed(batch, row)
    else if (batch.id[row] === RECEIVE_ID) this.#received(batch.immediate[row]!)
    else this.#requests.completed(batch.id[row]!)
  }

  protected progress(inTurn: boolean): void {
    this.#end.receives.collect(!inTurn)
    this.#requests.startWaiting()
    this.#requests.tellSettled()
    if (this.#trouble !== undefined) throw this.#trouble
    if (this.#flushed) this.#takenDown()
  }

  protected readCredit(): void {
    if (this.#credit.read()) this.cameCredit(this.#credit.bytes, this.#credit.receives)
  }

  protected wakeSoon(): void {
    this.#carrier.wakeSoon(this)
  }

  protected release(inOrder: boolean): void {
    clearInterval(this.#keepAlive)
    const what = inOrder ? 'the link was closed' : 'the link ended'
    this.#requests.end(new LinkError('lost', 'unknown', `${what} before the operation was done`))
    const closed = (): void => {
      this.#end.receives.close()
      // Handlers that are running may look at the memory until they return.
      setImmediate(() => {
        closeSurely(this.#end.memory)
        closeSurely(this.#outgoingMemory)
      })
    }
    const closePair = (): void => this.#carrier.release(this, closed, this.peerClosed)
    if (this.#lending === undefined) closePair()
    else this.#lending.linkEnded(closePair)
  }

  // ---- inside
  // ------------------------------------------------------------------------------------------------------------------

  /**
   * The queue pair was moved to the error state. The code that did so says why in this turn, unless it was the peer's
   * answer to our own end.
   */
  #takenDown(): void {
    if (this.#takingDown) return
    this.#takingDown = true
    setImmediate(() => this.connectionClosed('the connection was taken down'))
  }

  #hasRoom(requests: number): boolean {
    if (this.#requests.hasRoom(requests)) return true
    this.#end.receives.collect(true)
    this.#requests.startWaiting()
    return this.#requests.hasRoom(requests)
  }

  #stage(offset: number, bytes: number): PreparedRequest {
    const stage = this.#inlineStage
    const { outgoing } = this
    for (let at = 0; at < bytes; at += 1) stage[at] = outgoing[offset + at]!
    this.#inlineWrite.setLocal(this.#inlineViews[bytes / UNIT_BYTES]!)
    return this.#inlineWrite
  }

  #received(immediate: number): void {
    try {
      if (isSignal(immediate)) {
        const signal = signalOf(immediate)
        if (signal === undefined) throw new ProtocolViolation(`the peer sent the immediate ${immediate}`)
        this.cameSignal(signal, argumentOf(immediate))
      } else {
        if (immediate === 0) throw new ProtocolViolation('the peer announced zero bytes')
        this.cameBytes(immediate * UNIT_BYTES)
      }
    } catch (error) {
      this.#trouble ??= error as Error
    }
  }

  #failed(batch: CompletionBatch, row: number): void {
    if (this.peerClosed) {
      this.#requests.abandon()
      return
    }
    const status = batch.status[row]!
    if (status === CompletionStatus.WorkRequestFlushed) {
      this.#flushed = true
      return
    }
    const id = batch.id[row]!
    const vendorError = batch.vendorError[row]!
    const cause = new CompletionError(this.#requests.nameOf(id), status, vendorError, this.pair.number)
    const error = new LinkError('lost', 'unknown', cause.message, { cause })
    this.#requests.failed(id, error)
    this.#trouble ??= error
  }

  #operate(name: string, remote: RemoteAddress, prepare: () => PreparedRequest): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.checkOpen(name)
      checkRemote(remote)
      this.post(name, prepare(), (error) => {
        if (error === undefined) resolve()
        else reject(error)
      })
    })
  }

  attend(nowMs: number): void {
    if (typeof nowMs !== 'number') throw mustBe('nowMs', 'a time of performance.now()', nowMs)
    if (nowMs - this.#askedMs >= this.#keepAliveMs) this.#askAfterPeer(nowMs)
  }

  /**
   * An answer, or the retries' end, comes as a completion; nothing else would tell that a silent peer's machine is
   * gone. One question at a time: what is under way tells as well, and soft-RoCE restarts its timeout with each request
   * that is posted, so that asking more often than that would put off the end of the retries for ever.
   */
  #askAfterPeer(nowMs: number): void {
    this.#askedMs = nowMs
    const quiet = this.#completions === this.#completionsAtProbe
    this.#completionsAtProbe = this.#completions
    if (!quiet || this.#requests.willTell || !this.open) return
    try {
      if (this.#hasRoom(1)) this.#requests.postSignaled(this.#probe)
    } catch (error) {
      this.fail(error)
    }
  }
}

function checkDone(done: OperationDone): void {
  if (typeof done !== 'function') throw mustBe('done', 'a function that takes the error, if there is one', done)
}

function endedBefore(name: string): LinkError {
  return new LinkError('lost', 'none', `the link has ended before the ${name}`)
}

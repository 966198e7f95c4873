import { mustBe, TimeoutError } from '../native/index.ts'
import { type CompletionQueue, PreparedRequest, type QueuePair } from '../verbs/index.ts'
import { LinkError } from './errors.ts'
import type { Hello } from './hello.ts'
import type { LinkEnd } from './link-end.ts'
import type { CompletionMode } from './link-options.ts'
import { type MemoryLending, VerbsLending } from './memory-lending.ts'
import type { LocalRange, RegisteredBuffer, RemoteAddress } from './memory-range.ts'
import { checkRemote } from './memory-range.ts'
import type { Alarm, MessageLink } from './message-link.ts'
import { RingLink } from './ring-link.ts'
import { RingProtocol } from './ring-protocol.ts'
import { sendLimiter } from './send-limit.ts'
import type { OperationDone } from './send-requests.ts'
import { PEER_RIGHTS, segmentOf, VerbsBuffer } from './verbs-buffer.ts'
import { type LinkOwner, VerbsCarrier } from './verbs-carrier.ts'

/** A link over a connected queue pair. */
export class VerbsLink extends RingLink implements MessageLink {
  readonly pair: QueuePair
  readonly throughSharedMemory: boolean
  readonly completion: CompletionMode
  readonly closeTimeoutMs: number
  /** What the peer sent along beside this room's own data, padded with zeros. */
  readonly privateData: Uint8Array
  readonly #end: LinkEnd
  readonly #alarm: Alarm | undefined
  readonly #carrier: VerbsCarrier

  /**
   * @internal `pair` is connected to the peer that sent `peer`. `end` and its memory belong to the link from now on.
   */
  constructor(
    end: LinkEnd,
    pair: QueuePair,
    peer: Hello,
    owner: LinkOwner,
    privateData: Uint8Array,
    peerText?: string,
  ) {
    const { settings } = end
    const carrier = new VerbsCarrier(end, pair, peer, owner)
    const ring = new RingProtocol(carrier.parts, carrier)
    super(ring, carrier, {
      name: `queue pair ${pair.number}`,
      peerText,
      limiter: sendLimiter(settings.sendLimit),
      departures: owner.departures,
      weight: settings.weight,
      priority: settings.priority,
    })
    this.pair = pair
    this.throughSharedMemory = pair.domain.device.attributes.provider === 'shm'
    this.completion = settings.completion
    this.closeTimeoutMs = settings.closeTimeoutMs
    this.privateData = privateData
    this.#end = end
    this.#alarm = settings.completion === 'polling' ? undefined : owner.alarm
    this.#carrier = carrier
    carrier.attach(this, ring)
  }

  /** @internal Where its completions arrive. */
  get queue(): CompletionQueue {
    return this.#carrier.queue
  }

  /** As in {@link MessageLink.close}; `before` and the peer share one `closeTimeoutMs`. */
  override close(before?: Promise<void>): Promise<void> {
    if (!this.open) return Promise.resolve()
    const closing = super.close(before)
    const { closeTimeoutMs } = this
    const timer = setTimeout(() => {
      const why = `the peer did not take all messages within ${closeTimeoutMs} ms (closeTimeoutMs)`
      this.fail(new LinkError('lost', 'unknown', why))
    }, closeTimeoutMs)
    return closing.finally(() => clearTimeout(timer))
  }

  attend(nowMs: number): void {
    if (typeof nowMs !== 'number') throw mustBe('nowMs', 'a time of performance.now()', nowMs)
    this.#carrier.attend(nowMs)
  }

  /** @internal */
  arm(): Alarm | undefined {
    if (this.#alarm !== undefined) this.queue.arm()
    return this.#alarm
  }

  // ---- memory
  // -----------------------------------------------------------------------------------------------------------------

  allocate(lengthBytes: number): RegisteredBuffer {
    return VerbsBuffer.allocate(this.#end.domain, lengthBytes)
  }

  register(memory: Uint8Array): RegisteredBuffer {
    return new VerbsBuffer(this.#end.domain.register(memory, PEER_RIGHTS))
  }

  get lending(): MemoryLending {
    const carrier = this.#carrier
    const { domain, settings } = this.#end
    carrier.lending ??= new VerbsLending(this, domain, () => carrier.hold(), settings.lending)
    return carrier.lending
  }

  read(local: LocalRange, remote: RemoteAddress): Promise<void> {
    return this.#operate('read', remote, () => this.pair.prepareRead({ local: segmentOf(local), remote }))
  }

  write(local: LocalRange, remote: RemoteAddress): Promise<void> {
    return this.#operate('write', remote, () => this.pair.prepareWrite({ local: segmentOf(local), remote }))
  }

  /** @internal As {@link read}, spinning. @throws TimeoutError */
  readSync(local: LocalRange, remote: RemoteAddress, timeoutMs: number): void {
    this.#operateSync('read', remote, timeoutMs, () => this.pair.prepareRead({ local: segmentOf(local), remote }))
  }

  /** @internal As {@link write}, spinning. @throws TimeoutError */
  writeSync(local: LocalRange, remote: RemoteAddress, timeoutMs: number): void {
    this.#operateSync('write', remote, timeoutMs, () => this.pair.prepareWrite({ local: segmentOf(local), remote }))
  }

  #operateSync(name: string, remote: RemoteAddress, timeoutMs: number, prepare: () => PreparedRequest): void {
    this.checkOpen(name)
    checkRemote(remote)
    const end: { isOver: boolean; error?: unknown } = { isOver: false }
    this.post(name, prepare(), (error) => {
      end.isOver = true
      end.error = error
    })
    const deadlineMs = performance.now() + timeoutMs
    while (!end.isOver) {
      this.flush()
      this.reap()
      if (!end.isOver && performance.now() > deadlineMs)
        throw new TimeoutError(
          `${name} did not complete within ${timeoutMs} ms; it may or may not have been carried out`,
        )
    }
    if (end.error !== undefined) throw end.error
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
    else this.post('read', this.pair.prepareRead({ local: [], remote: this.#carrier.ring }), done)
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
    const { requests } = this.#carrier
    const operation = { request, name, done }
    if (!this.open) {
      requests.refuse(operation, endedBefore(name))
      return
    }
    requests.operate(operation)
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
      this.#carrier.collect(false)
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

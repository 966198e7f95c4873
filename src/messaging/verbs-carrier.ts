import {
  Access,
  type CompletionBatch,
  CompletionError,
  type CompletionQueue,
  CompletionStatus,
  type MemoryRegion,
  type PreparedRequest,
  type QueuePair,
} from '../verbs/index.ts'
import { closeSurely } from './close-surely.ts'
import { CREDIT_BYTES, CreditWords, countsAt } from './credit-words.ts'
import type { Departures } from './departures.ts'
import { LinkError } from './errors.ts'
import type { Hello } from './hello.ts'
import type { LinkEnd } from './link-end.ts'
import { type CompletionTaker, RECEIVE_ID, type SharingLink } from './link-receives.ts'
import type { VerbsLending } from './memory-lending.ts'
import type { RemoteAddress } from './memory-range.ts'
import type { Alarm } from './message-link.ts'
import { PeerProbe } from './peer-probe.ts'
import type { Progressing } from './progress-loop.ts'
import type { RingCarrier, RingReceiver } from './ring-carrier.ts'
import type { RingParts } from './ring-protocol.ts'
import { UNIT_BYTES } from './ring-record.ts'
import { SendRequests } from './send-requests.ts'
import { Signal, signalImmediate } from './signal.ts'

/** What a link needs from the maker of its connection. */
export interface LinkOwner {
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
  /** Rings for the queue of the link once that is armed. */
  readonly alarm?: Alarm
  /** The order among links over this device. */
  readonly departures?: Departures
}

/** The link whose messages are carried. */
export interface CarriedLink extends Progressing, SharingLink {
  readonly open: boolean
  fail(cause: unknown): void
  /** The way to the peer is gone. */
  lose(why: string): void
}

/** Carries a pair of rings over a connected queue pair: by WRITEs, of which immediates tell the peer. */
export class VerbsCarrier implements RingCarrier, CompletionTaker {
  /** Of the peer. */
  readonly ring: RemoteAddress
  readonly requests: SendRequests
  /** What is lent through this queue pair; it ends before that goes. */
  lending: VerbsLending | undefined
  events = 0
  readonly #end: LinkEnd
  readonly #pair: QueuePair
  readonly #owner: LinkOwner
  readonly #peerProbe: PeerProbe
  readonly #parts: RingParts
  readonly #outgoingMemory: MemoryRegion
  readonly #outgoingAddress: number
  readonly #peerAddress: number
  readonly #creditOut: Uint32Array
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
  #link!: CarriedLink
  #receiver!: RingReceiver
  /** The request that says `close`. */
  #closeId = 0
  #flushed = false
  /** What is wrong with a completion that was taken; it ends the link with the next poll. */
  #trouble: Error | undefined
  #takingDown = false

  /** `pair` is connected to the peer that sent `peer`. `end` and its memory belong to the carrier from now on. */
  constructor(end: LinkEnd, pair: QueuePair, peer: Hello, owner: LinkOwner) {
    const { settings, domain, memory } = end
    const outgoingBytes = end.outgoingBytes(peer)
    const outgoingMemory = domain.allocate(outgoingBytes + CREDIT_BYTES, Access.LocalWrite)
    this.#end = end
    this.#pair = pair
    this.#owner = owner
    this.#outgoingMemory = outgoingMemory
    this.#outgoingAddress = outgoingMemory.address
    this.#peerAddress = peer.address
    this.#parts = {
      outgoing: outgoingMemory.bytes.subarray(0, outgoingBytes),
      incoming: memory.bytes.subarray(0, end.incomingBytes(peer)),
      credit: new CreditWords(memory.bytes, settings.ringBytes),
      peerReceives: peer.receives,
      peerReceivesMax: peer.receivesMax,
      receives: end.receives.budget,
    }
    this.#creditOut = countsAt(outgoingMemory.bytes, outgoingBytes)
    // A device may give more than was asked for; what its completion queue holds is not more.
    this.requests = new SendRequests(settings.sends)
    this.#inlineBytes = end.pairOptions.maxInlineBytes
    this.#inlineStage = new Uint8Array(this.#inlineBytes)
    for (let bytes = 0; bytes <= this.#inlineBytes; bytes += UNIT_BYTES)
      this.#inlineViews.push([this.#inlineStage.subarray(0, bytes)])
    const ring = { address: peer.address, key: peer.key }
    this.ring = ring
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
    this.#peerProbe = new PeerProbe(this, settings.keepAliveMs)
  }

  /** What the protocol needs to know of both ends. */
  get parts(): RingParts {
    return this.#parts
  }

  /** Where completions arrive. */
  get queue(): CompletionQueue {
    return this.#end.receives.queue
  }

  /** Bring what comes to `receiver`, also what has come before. */
  attach(link: CarriedLink, receiver: RingReceiver): void {
    this.#link = link
    this.#receiver = receiver
    this.#end.receives.attach(this, link)
  }

  // ---- to the peer
  // -----------------------------------------------------------------------------------------------------------------

  transmit(offset: number, first: number, rest: number): boolean {
    if (!this.#hasRoom(rest > 0 ? 2 : 1)) return false
    const immediate = (first + rest) / UNIT_BYTES
    if (rest > 0) this.#transmitAround(offset, first, rest, immediate)
    else if (first > this.#inlineBytes) {
      const remote = this.#peerAddress + offset
      this.requests.postNext(this.#tellingWrite, this.#outgoingAddress + offset, first, remote, immediate)
    } else {
      const request = this.#stage(offset, first)
      request.remoteAddress = this.#peerAddress + offset
      request.immediate = immediate
      this.requests.post(request)
    }
    return true
  }

  /** Around the end of the ring, by two WRITEs. */
  #transmitAround(offset: number, first: number, rest: number, immediate: number): void {
    const { address, localKey } = this.#outgoingMemory
    this.#plainWrite.setSegment(0, address + offset, first, localKey)
    this.#plainWrite.remoteAddress = this.#peerAddress + offset
    this.requests.post(this.#plainWrite)
    this.#tellingWrite.setSegment(0, address, rest, localKey)
    this.#tellingWrite.remoteAddress = this.#peerAddress
    this.#tellingWrite.immediate = immediate
    this.requests.post(this.#tellingWrite)
  }

  transmitCredit(bytes: number, receives: number, wake: boolean): boolean {
    if (!this.#hasRoom(1)) return false
    this.#end.receives.repost()
    this.#creditOut[0] = this.#creditOut[0]! + bytes / UNIT_BYTES
    this.#creditOut[1] = this.#creditOut[1]! + receives
    this.requests.post(wake ? this.#wakingWrite : this.#creditWrite)
    return true
  }

  transmitSignal(signal: Signal, argument: number): boolean {
    if (!this.#hasRoom(1)) return false
    this.#end.receives.repost()
    this.#signalWrite.immediate = signalImmediate(signal, argument)
    if (signal === Signal.Close) this.#closeId = this.requests.postSignaled(this.#signalWrite)
    else this.requests.post(this.#signalWrite)
    return true
  }

  /**
   * Credit for what came after our `close` is not waited for: it completes without a word, and the peer's `close` says
   * that it was enough.
   */
  drained(): boolean {
    return this.requests.done >= this.#closeId
  }

  #hasRoom(requests: number): boolean {
    if (this.requests.hasRoom(requests)) return true
    this.#end.receives.collect(true)
    this.requests.startWaiting()
    return this.requests.hasRoom(requests)
  }

  #stage(offset: number, bytes: number): PreparedRequest {
    const stage = this.#inlineStage
    const { outgoing } = this.#parts
    for (let at = 0; at < bytes; at += 1) stage[at] = outgoing[offset + at]!
    this.#inlineWrite.setLocal(this.#inlineViews[bytes / UNIT_BYTES]!)
    return this.#inlineWrite
  }

  // ---- from the peer
  // ---------------------------------------------------------------------------------------------------------------

  collect(inTurn: boolean): void {
    this.#end.receives.collect(!inTurn)
    this.requests.startWaiting()
    this.requests.tellSettled()
    if (this.#trouble !== undefined) throw this.#trouble
    if (this.#flushed) this.#takenDown()
  }

  take(batch: CompletionBatch, row: number): void {
    this.events += 1
    try {
      if (batch.status[row] !== CompletionStatus.Success) this.#failed(batch, row)
      else if (batch.id[row] === RECEIVE_ID) this.#receiver.came(batch.immediate[row]!)
      else this.requests.completed(batch.id[row]!)
    } catch (error) {
      this.#trouble ??= error as Error
    }
  }

  #failed(batch: CompletionBatch, row: number): void {
    if (this.#receiver.peerClosed) {
      this.requests.abandon()
      return
    }
    const status = batch.status[row]!
    if (status === CompletionStatus.WorkRequestFlushed) {
      this.#flushed = true
      return
    }
    const id = batch.id[row]!
    const vendorError = batch.vendorError[row]!
    const cause = new CompletionError(this.requests.nameOf(id), status, vendorError, this.#pair.number)
    const error = new LinkError('lost', 'unknown', cause.message, { cause })
    this.requests.failed(id, error)
    this.#trouble ??= error
  }

  /**
   * The queue pair was moved to the error state. The code that did so says why in this turn, unless it was the peer's
   * answer to our own end.
   */
  #takenDown(): void {
    if (this.#takingDown) return
    this.#takingDown = true
    setImmediate(() => this.#link.lose('the connection was taken down'))
  }

  // ---- the peer that is silent
  // -----------------------------------------------------------------------------------------------------------------

  /** Ask after the peer, if that is due at this time of `performance.now()`. */
  attend(nowMs: number): void {
    this.#peerProbe.attend(nowMs)
  }

  /**
   * One question at a time: what is under way tells as well. Soft-RoCE restarts its timeout with each request that is
   * posted. To ask more often would put off the end of the retries for ever.
   */
  askAfterPeer(): void {
    if (this.requests.willTell || !this.#link.open) return
    try {
      if (this.#hasRoom(1)) this.requests.postSignaled(this.#probe)
    } catch (error) {
      this.#link.fail(error)
    }
  }

  // ---- its owner
  // -----------------------------------------------------------------------------------------------------------------

  wakeSoon(): void {
    this.#owner.wakeSoon(this.#link)
  }

  /** Keep the domain open until the returned function is called. */
  hold(): () => void {
    return this.#owner.hold?.() ?? (() => {})
  }

  release(inOrder: boolean): void {
    this.#peerProbe.close()
    const what = inOrder ? 'the link was closed' : 'the link ended'
    this.requests.end(new LinkError('lost', 'unknown', `${what} before the operation was done`))
    const closed = (): void => {
      this.#end.receives.close()
      // Handlers that are running may look at the memory until they return.
      setImmediate(() => {
        closeSurely(this.#end.memory)
        closeSurely(this.#outgoingMemory)
      })
    }
    const closePair = (): void => this.#owner.release(this.#link, closed, this.#receiver.peerClosed)
    if (this.lending === undefined) closePair()
    else this.lending.linkEnded(closePair)
  }
}

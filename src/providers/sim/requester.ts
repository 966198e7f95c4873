import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Opcode, RequestFlag } from '../opcode.ts'
import type { QueuePairAttributes } from '../queue-pair-contract.ts'
import { MAX_MTU } from '../soft/limits.ts'
import type { MemoryOperations } from '../soft/memory-operations.ts'
import { answerTimeoutMs, RNR_RETRY_FOREVER, rnrTimerMs } from '../soft/rnr-timer.ts'
import { isAtomic } from '../soft/service.ts'
import { CompletionStatus } from '../status.ts'
import type { SimContext } from './context.ts'
import type { Destination } from './destination.ts'
import { gatherLocal } from './local-memory.ts'
import {
  type Flow,
  HEADER_BYTES,
  type Message,
  NO_BYTES,
  type Packet,
  PacketKind,
  psnAfter,
  psnAhead,
} from './packet.ts'
import type { PieceList } from './piece-list.ts'
import type { SendEntry } from './send-entry.ts'
import { SendingPace } from './sending-pace.ts'

const NS_PER_MS = 1e6
/** A queue key with this bit set means that the queue pair's own is sent (IB specification 10.2.5). */
const OWN_QUEUE_KEY = 0x80000000

/** What the send side of a queue pair needs of it. */
export interface RequesterOwner {
  readonly device: SimContext
  readonly memoryOperations: MemoryOperations
  readonly domainId: number
  readonly number: number
  readonly datagrams: boolean
  /** True if requests are answered. */
  readonly reliable: boolean
  /** One request at a time, because each may go somewhere else. */
  readonly oneAtATime: boolean
  /** True if requests may begin. */
  readonly sending: boolean
  /** The oldest request is done. */
  completed(entry: SendEntry): void
  /** The oldest request has failed, with `entry.status`. */
  failed(entry: SendEntry): void
}

/**
 * The send side of a queue pair: turns requests into packets, and answers into completions, in order. It sends again
 * what was lost.
 */
export class SimRequester {
  readonly #owner: RequesterOwner
  readonly #destination: Destination
  #attributes: QueuePairAttributes
  readonly #flow: Flow = { lastArrivalNs: 0 }
  readonly #session: number
  #entries: SendEntry[] = []
  /** What is sent next: an entry by its index, and its packet. */
  #cursor = 0
  #packet = 0
  #nextPsn: number
  /** The round of sending; a packet that was being made for an earlier round is not sent. */
  #round = 0
  #making = false
  /** Waiting because the receiver was not ready. */
  #held = false
  #pacer: SendingPace | undefined
  /** An event will go on when the pace allows it. */
  #pacing = false
  /** The queue pair has failed, was reset, or is gone. */
  #stopped = false
  #retriesLeft: number
  /** The sequence number that was already sent again, with no answer since; -1 for none. */
  #missedPsn = -1
  #rnrRetriesLeft: number
  #deadlineNs = Number.POSITIVE_INFINITY
  #timing = false

  constructor(owner: RequesterOwner, destination: Destination, attributes: QueuePairAttributes, session: number) {
    this.#owner = owner
    this.#destination = destination
    this.#attributes = attributes
    this.#session = session
    this.#nextPsn = attributes.sendPsn ?? 0
    this.#retriesLeft = attributes.retryCount ?? 0
    this.#rnrRetriesLeft = attributes.rnrRetry ?? 0
  }

  /** True if something that has begun is not finished. */
  get busy(): boolean {
    return this.#entries.some((entry) => entry.begun)
  }

  /** Use other timers and limits from now on. */
  change(attributes: QueuePairAttributes): void {
    this.#attributes = attributes
  }

  /** In bytes per second; 0 for no limit. */
  get rateLimit(): number {
    return this.#pacer?.bytesPerSecond ?? 0
  }

  set rateLimit(bytesPerSecond: number) {
    this.#pacer = bytesPerSecond === 0 ? undefined : new SendingPace(bytesPerSecond)
    this.#pacing = false
    this.pump()
  }

  post(entry: SendEntry): void {
    this.#entries.push(entry)
    this.pump()
  }

  /** Do nothing more. Returns what was not finished, in order. */
  stop(): readonly SendEntry[] {
    this.#round += 1
    this.#stopped = true
    const entries = this.#entries
    this.#entries = []
    return entries
  }

  /** Begin and send what may be sent. */
  pump(): void {
    while (!this.#making && !this.#held && !this.#stopped) {
      const entry = this.#entries[this.#cursor]
      if (entry === undefined || !(entry.begun || this.#mayBegin(entry))) return
      if (!entry.begun) this.#begin(entry)
      if (entry.status !== 0) return
      if (entry.done || entry.message === undefined || entry.isAnsweredWhole) this.#pass()
      else if (this.#isEarly()) return
      else this.#make(entry, entry.message)
    }
  }

  /** An answer has come. */
  take(packet: Packet): void {
    if (this.#stopped) return
    switch (packet.kind) {
      case PacketKind.Acknowledge:
        this.#acknowledge(packet.psn)
        break
      case PacketKind.ReadResponse:
        this.#readResponse(packet)
        break
      case PacketKind.AtomicResponse:
        this.#atomicResponse(packet)
        break
      case PacketKind.SequenceError:
        this.#acknowledge(psnAfter(packet.psn, -1))
        this.#missed(packet.psn)
        break
      case PacketKind.ReceiverNotReady:
        this.#acknowledge(psnAfter(packet.psn, -1))
        this.#receiverNotReady(packet)
        break
      default:
        this.#acknowledge(psnAfter(packet.psn, -1))
        this.#refused(packet)
    }
    this.#retire()
    this.pump()
  }

  /** There is nothing to send for the entry. */
  #pass(): void {
    this.#cursor += 1
    this.#packet = 0
    this.#retire()
  }

  // ---- beginning
  // -----------------------------------------------------------------------------------------------------------------

  #mayBegin(entry: SendEntry): boolean {
    if (!this.#owner.sending) return false
    let open = 0
    let answered = 0
    for (let index = 0; index < this.#cursor; index += 1) {
      const before = this.#entries[index]!
      if (before.done) continue
      open += 1
      if (before.isAnswered) answered += 1
    }
    if (this.#owner.oneAtATime && open > 0) return false
    if ((entry.flags & RequestFlag.Fence) !== 0 && answered > 0) return false
    return !entry.isAnswered || answered < Math.max(1, this.#attributes.maxReadAtomic ?? 0)
  }

  #begin(entry: SendEntry): void {
    const { memoryOperations } = this.#owner
    entry.begun = true
    if (memoryOperations.includes(entry.opcode)) {
      const status = memoryOperations.execute(entry.request, entry.opcode)
      entry.done = true
      if (status !== CompletionStatus.Success) this.#fail(entry, status)
      return
    }
    const list = this.#gather(entry)
    const status = list === undefined ? CompletionStatus.LocalProtectionError : this.#localProblem(entry, list)
    if (list === undefined || status !== CompletionStatus.Success) {
      this.#fail(entry, status)
      return
    }
    entry.lengthBytes = list.total
    // A datagram longer than a packet: nothing is sent, which is not an error (C10-93.1.1).
    if (this.#owner.datagrams && list.total > MAX_MTU) entry.done = true
    else this.#describe(entry)
  }

  #localProblem(entry: SendEntry, list: PieceList): number {
    if (!entry.isAnswered) return CompletionStatus.Success
    if ((this.#attributes.maxReadAtomic ?? 0) === 0) return CompletionStatus.LocalQueuePairOperationError
    const wrong = entry.opcode !== Opcode.Read && list.total !== 8
    return wrong ? CompletionStatus.LocalLengthError : CompletionStatus.Success
  }

  #describe(entry: SendEntry): void {
    const { request, opcode, lengthBytes } = entry
    const { words, bits } = request
    const packetBytes = this.#owner.datagrams ? MAX_MTU : (this.#attributes.pathMtu ?? MAX_MTU)
    const packets = isAtomic(opcode) ? 1 : Math.max(1, Math.ceil(lengthBytes / packetBytes))
    const message: Message = {
      opcode,
      lengthBytes,
      packets,
      packetBytes,
      firstPsn: this.#nextPsn,
      remoteAddress: words[RequestSlot.RemoteAddress]!,
      remoteKey: words[RequestSlot.RemoteKey]!,
      immediate: words[RequestSlot.Immediate]!,
      solicited: (entry.flags & RequestFlag.Solicited) !== 0,
      request,
      sharedQueue: words[RequestSlot.RemoteQueuePair]!,
      session: this.#session,
      accessKey: bits[RequestSlot.AccessKey]!,
      queueKey: this.#queueKey(request),
      route: this.#destination.route(request, lengthBytes),
    }
    entry.message = message
    entry.psnCount = packets
    this.#nextPsn = psnAfter(this.#nextPsn, packets)
  }

  #queueKey(request: EncodedRequest): number {
    const key = request.words[RequestSlot.QueueKey]!
    return key >= OWN_QUEUE_KEY ? (this.#attributes.queueKey ?? 0) : key
  }

  #gather(entry: SendEntry): PieceList | undefined {
    const { device, domainId } = this.#owner
    return gatherLocal(device.keys, domainId, entry.request, entry.isAnswered)
  }

  // ---- sending
  // -------------------------------------------------------------------------------------------------------------------

  /** Make the next packet. Its bytes are read from memory line by line, and again if it is sent again. */
  #make(entry: SendEntry, message: Message): void {
    const index = entry.isAnswered ? entry.received : this.#packet
    const payload = this.#payload(entry, message, index)
    if (payload === undefined) {
      this.#fail(entry, CompletionStatus.LocalProtectionError)
      return
    }
    const last = entry.isAnswered || index === message.packets - 1
    this.#cursor += last ? 1 : 0
    this.#packet = last ? 0 : index + 1
    const { kernel } = this.#owner.device.host
    const round = this.#round
    this.#making = true
    kernel.at(payload.sentNs, () => {
      if (round !== this.#round) return
      this.#making = false
      this.#send(entry, message, index, payload.bytes)
      if (last && !this.#owner.reliable) entry.done = true
      this.#retire()
      this.pump()
    })
  }

  /** The pace does not allow the next packet yet. */
  #isEarly(): boolean {
    const { kernel } = this.#owner.device.host
    const nextNs = this.#pacer?.nextNs ?? 0
    if (nextNs <= kernel.nowNs) return false
    if (!this.#pacing)
      kernel.at(nextNs, () => {
        this.#pacing = false
        this.pump()
      })
    this.#pacing = true
    return true
  }

  #payload(
    entry: SendEntry,
    message: Message,
    index: number,
  ): { readonly bytes: Uint8Array; readonly sentNs: number } | undefined {
    const { device } = this.#owner
    const { host } = device
    const { kernel, adapter } = host
    const fromNs = kernel.nowNs + (index === 0 ? host.adapterNs(adapter.startNs) : 0)
    if (entry.isAnswered) return { bytes: NO_BYTES, sentNs: host.transmit(fromNs, device.network.wireNs(0)) }
    const list = this.#gather(entry)
    if (list === undefined) return undefined
    const part = list.part(
      index * message.packetBytes,
      Math.min(message.packetBytes, message.lengthBytes - index * message.packetBytes),
    )
    const bytes = part.total === 0 ? NO_BYTES : new Uint8Array(part.total)
    const takenNs = part.total === 0 ? fromNs : device.dma.sample(fromNs, part, bytes)
    return { bytes, sentNs: host.transmit(takenNs, device.network.wireNs(part.total)) }
  }

  #send(entry: SendEntry, message: Message, index: number, payload: Uint8Array): void {
    const { device, number } = this.#owner
    for (const place of this.#destination.places(entry.request)) {
      device.network.send({
        kind: PacketKind.Request,
        source: device,
        sourceNumber: number,
        targetGid: place.gid,
        targetNumber: place.number,
        flow: this.#flow,
        psn: psnAfter(message.firstPsn, index),
        message,
        index,
        payload,
        value: 0,
        word: 0n,
      })
    }
    this.#pacer?.left(device.host.kernel.nowNs, payload.length + HEADER_BYTES)
    // What waits for its turn is not what the peer has not answered.
    if (this.#owner.reliable && (this.#deadlineNs === Number.POSITIVE_INFINITY || this.#pacer !== undefined))
      this.#restartTimer()
  }

  // ---- answers
  // -------------------------------------------------------------------------------------------------------------------

  /** Everything up to `psn` has been carried out. */
  #acknowledge(psn: number): void {
    for (const entry of this.#entries) {
      if (entry.done) continue
      if (entry.message === undefined) return
      if (psnAhead(psn, entry.lastPsn) < 0) {
        this.#acknowledgePart(entry, psnAhead(psn, entry.message.firstPsn) + 1)
        return
      }
      if (!entry.isAnswered) {
        entry.done = true
        this.#progressed()
      } else if (entry.received < entry.psnCount) {
        // Answers come in order: the answer to this request was lost.
        this.#missed(psnAfter(entry.message.firstPsn, entry.received))
        return
      }
    }
  }

  /** The peer has the first `packets` of a message, which is progress. */
  #acknowledgePart(entry: SendEntry, packets: number): void {
    if (entry.isAnswered || packets <= entry.received) return
    entry.received = packets
    this.#progressed()
  }

  #readResponse(packet: Packet): void {
    const entry = this.#answeredEntry(packet.psn)
    if (entry?.message === undefined || entry.opcode !== Opcode.Read) return
    const { firstPsn, packetBytes } = entry.message
    const ahead = psnAhead(packet.psn, psnAfter(firstPsn, entry.received))
    if (ahead > 0) this.#missed(psnAfter(firstPsn, entry.received))
    if (ahead !== 0) return
    this.#acknowledge(psnAfter(firstPsn, -1))
    const offset = entry.received * packetBytes
    entry.received += 1
    this.#progressed()
    this.#land(entry, offset, packet.payload)
  }

  #atomicResponse(packet: Packet): void {
    const entry = this.#answeredEntry(packet.psn)
    if (entry?.message === undefined || !isAtomic(entry.opcode) || entry.received > 0) return
    this.#acknowledge(psnAfter(entry.message.firstPsn, -1))
    entry.received = 1
    this.#progressed()
    this.#land(entry, 0, new Uint8Array(BigInt64Array.of(packet.word).buffer))
  }

  /** Put a part of the answer into memory; with the last part the request is done. */
  #land(entry: SendEntry, offset: number, bytes: Uint8Array): void {
    const { device } = this.#owner
    const list = this.#gather(entry)
    if (list === undefined) {
      this.#fail(entry, CompletionStatus.LocalProtectionError)
      return
    }
    const { kernel } = device.host
    const landedNs =
      bytes.length === 0 ? kernel.nowNs : device.dma.place(kernel.nowNs, list.part(offset, bytes.length), bytes)
    // A part that came before may take longer.
    entry.landedNs = Math.max(entry.landedNs, landedNs)
    if (entry.received < entry.psnCount) return
    kernel.at(entry.landedNs, () => {
      entry.done = true
      this.#retire()
      this.pump()
    })
  }

  #answeredEntry(psn: number): SendEntry | undefined {
    return this.#entries.find(
      (entry) =>
        entry.message !== undefined &&
        entry.isAnswered &&
        psnAhead(psn, entry.message.firstPsn) >= 0 &&
        psnAhead(psn, entry.lastPsn) <= 0,
    )
  }

  #receiverNotReady(packet: Packet): void {
    const entry = this.#entryAt(packet.psn)
    const forever = this.#attributes.rnrRetry === RNR_RETRY_FOREVER
    if (entry === undefined) return
    if (!forever && this.#rnrRetriesLeft === 0) {
      this.#fail(entry, CompletionStatus.ReceiverNotReadyRetryExceeded)
      return
    }
    this.#rnrRetriesLeft -= 1
    this.#rewind(packet.psn)
    this.#held = true
    this.#deadlineNs = Number.POSITIVE_INFINITY
    const round = this.#round
    this.#owner.device.host.kernel.after(rnrTimerMs(packet.value) * NS_PER_MS, () => {
      if (round !== this.#round) return
      this.#held = false
      this.pump()
    })
  }

  #refused(packet: Packet): void {
    const entry = this.#entryAt(packet.psn)
    if (entry !== undefined) this.#fail(entry, packet.value)
  }

  // ---- sending again
  // ---------------------------------------------------------------------------------------------------------------

  /**
   * An incoming packet shows that `psn` was lost. Many packets may show that, so `psn` is sent again once, and then the
   * timer decides. Retries are for silence: a peer that answers does not use them up.
   */
  #missed(psn: number): void {
    if (this.#missedPsn === psn || this.#stopped || this.#entryAt(psn) === undefined) return
    this.#missedPsn = psn
    this.#repeatFrom(psn)
  }

  /** There was no answer: send again from `psn` on, unless the retries are used up. */
  #sendAgain(psn: number): void {
    const entry = this.#entryAt(psn)
    if (entry === undefined || this.#stopped) return
    if (this.#retriesLeft === 0) {
      this.#fail(entry, CompletionStatus.RetryExceeded)
      return
    }
    this.#retriesLeft -= 1
    this.#repeatFrom(psn)
  }

  #repeatFrom(psn: number): void {
    this.#rewind(psn)
    this.#restartTimer()
    this.pump()
  }

  #rewind(psn: number): void {
    const index = this.#entries.findIndex((entry) => isWithin(entry, psn))
    const entry = this.#entries[index]
    if (entry?.message === undefined) return
    this.#dropPacket()
    this.#held = false
    this.#cursor = index
    this.#packet = entry.isAnswered ? 0 : psnAhead(psn, entry.message.firstPsn)
  }

  #entryAt(psn: number): SendEntry | undefined {
    return this.#entries.find((entry) => !entry.done && isWithin(entry, psn))
  }

  /** The peer has answered something new. */
  #progressed(): void {
    this.#missedPsn = -1
    this.#retriesLeft = this.#attributes.retryCount ?? 0
    this.#rnrRetriesLeft = this.#attributes.rnrRetry ?? 0
    this.#deadlineNs = Number.POSITIVE_INFINITY
    if (this.#firstOpen() !== undefined) this.#restartTimer()
  }

  /** The oldest request that waits for its peer. */
  #firstOpen(): SendEntry | undefined {
    return this.#entries.find((entry) => entry.message !== undefined && !entry.done && entry.status === 0)
  }

  #restartTimer(): void {
    const { timeout = 0 } = this.#attributes
    if (timeout === 0) return
    const { kernel } = this.#owner.device.host
    this.#deadlineNs = kernel.nowNs + answerTimeoutMs(timeout, 0) * NS_PER_MS
    if (!this.#timing) this.#wait()
  }

  /** One event at a time watches the deadline, which moves on in the meantime. */
  #wait(): void {
    const { kernel } = this.#owner.device.host
    this.#timing = true
    kernel.at(this.#deadlineNs, () => {
      this.#timing = false
      if (this.#stopped || this.#deadlineNs === Number.POSITIVE_INFINITY) return
      if (kernel.nowNs < this.#deadlineNs) this.#wait()
      else this.#expired()
    })
  }

  #expired(): void {
    const entry = this.#firstOpen()
    this.#deadlineNs = Number.POSITIVE_INFINITY
    if (entry?.message === undefined) return
    // The whole answer is here, and on its way into memory.
    if (entry.isAnsweredWhole) return
    this.#sendAgain(psnAfter(entry.message.firstPsn, entry.received))
    this.#retire()
  }

  // ---- completing
  // ----------------------------------------------------------------------------------------------------------------

  #fail(entry: SendEntry, status: number): void {
    entry.status = status
    this.#retire()
  }

  /** Complete what is done, oldest first. */
  #retire(): void {
    for (let entry = this.#entries[0]; entry?.done === true && entry.status === 0; entry = this.#entries[0]) {
      this.#entries.shift()
      if (this.#cursor > 0) this.#cursor -= 1
      else this.#dropPacket()
      this.#owner.completed(entry)
    }
    this.#retireFailed()
  }

  /** What was being sent again has been answered in the meantime. */
  #dropPacket(): void {
    this.#round += 1
    this.#making = false
    this.#packet = 0
  }

  /** The failed request is the oldest: every request before it has completed. */
  #retireFailed(): void {
    const entry = this.#entries[0]
    if (entry === undefined || entry.status === 0) return
    this.#entries.shift()
    this.#owner.failed(entry)
  }
}

function isWithin(entry: SendEntry, psn: number): boolean {
  const { message } = entry
  return message !== undefined && psnAhead(psn, message.firstPsn) >= 0 && psnAhead(psn, entry.lastPsn) <= 0
}

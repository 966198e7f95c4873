import { Access } from '../access.ts'
import type { Gid } from '../gid.ts'
import { CompletionFlag, CompletionOpcode, Opcode } from '../opcode.ts'
import { changeAtomically } from '../soft/atomic.ts'
import { invalidateKey } from '../soft/memory-operations.ts'
import { isAtomic, receiveFlags } from '../soft/service.ts'
import { CompletionStatus } from '../status.ts'
import type { CompletionRow, SimCompletionQueue } from './completion-queue.ts'
import type { SimContext } from './context.ts'
import type { Host } from './host.ts'
import type { MemoryBlock } from './memory-block.ts'
import { type Flow, type Message, NO_BYTES, type Packet, PacketKind, psnAfter, psnAhead } from './packet.ts'
import { PieceList } from './piece-list.ts'
import type { ReceiveSource } from './receive-queue.ts'
import type { ReceiveRequest } from './receive-request.ts'

/**
 * How many answers to atomics are kept in case they are repeated. IB specification 9.4.5: as many as there are READ
 * resources; a few more do no harm.
 */
const SAVED_ATOMICS = 32

/** What a message is for: whose memory its keys mean, and where its receives come from and complete. */
export interface Service {
  readonly device: SimContext
  readonly domainId: number
  readonly receives: ReceiveSource | undefined
  readonly completionQueue: SimCompletionQueue | undefined
}

/** What the receive side of a queue pair needs of it. */
export interface ResponderOwner {
  readonly device: SimContext
  readonly number: number
  /** The access bits of the queue pair. */
  readonly access: number
  /** READs and atomics that it serves. */
  readonly readResources: number
  readonly minRnrTimer: number
  /** True if requests are answered. */
  readonly reliable: boolean
  /** Changes at RESET and destruction: what began before is forgotten. */
  readonly generation: number
  /** Returns the service, or the status that refuses the message. */
  serviceOf(message: Message): Service | number
  /** A message has arrived that can be accepted. */
  established(): void
  received(service: Service, atNs: number, receipt: Receipt): void
  /** A message was refused, with the status that its sender is told. */
  refusing(status: number): void
}

/** How a receive request ended. */
export interface Receipt extends Omit<CompletionRow, 'owner' | 'frees' | 'id'> {
  readonly receive: ReceiveRequest
}

/** An answer that waits for its turn: calls `next` when it is on its way. */
type Answer = (next: () => void) => void

/** A message whose packets have not all arrived. */
interface Incoming {
  readonly message: Message
  readonly service: Service
  receive: ReceiveRequest | undefined
}

/** The outcome of a packet besides CompletionStatus: there is no receive request. */
const NOT_READY = -1
/** Nothing is answered. */
const NOT_DONE = -2

/** The receive side of one connection: takes packets in order, carries out what they ask for, and answers in order. */
export class Responder {
  readonly #owner: ResponderOwner
  readonly #peerGid: Gid
  readonly #peerNumber: number
  readonly #flow: Flow = { lastArrivalNs: 0 }
  readonly #generation: number
  readonly #atomics = new Map<number, bigint>()
  readonly #answers: Answer[] = []
  #answering = false
  #expectedPsn: number
  /** True if the missing packet was already reported. */
  #complained = false
  #incoming: Incoming | undefined
  /** For unreliable connections: a receive whose message was partly lost, for the next message. */
  #spare: ReceiveRequest | undefined
  /** The sender of a WRITE that has stopped in its middle. */
  #unfinishedOf: Host | undefined
  /** The time when everything that was written is visible. */
  #settledNs = 0
  /** What it has written to. */
  readonly #written = new Set<MemoryBlock>()

  constructor(owner: ResponderOwner, peerGid: Gid, peerNumber: number, expectedPsn: number) {
    this.#owner = owner
    this.#peerGid = peerGid
    this.#peerNumber = peerNumber
    this.#expectedPsn = expectedPsn
    this.#generation = owner.generation
  }

  isFor(packet: Packet): boolean {
    return packet.source.gid === this.#peerGid && packet.sourceNumber === this.#peerNumber
  }

  /**
   * The peer begins a message. What it has sent to other targets in the meantime is not missing here. Dynamic
   * connections only.
   */
  skipTo(psn: number): void {
    if (psnAhead(psn, this.#expectedPsn) > 0) this.#expectedPsn = psn
  }

  /** Refuse a packet, and tell the peer the status. */
  refuse(psn: number, status: number): void {
    this.#negative(PacketKind.Refused, psn, status)
  }

  /** The receive request of the incomplete message; it belongs to the caller now. */
  abandon(): ReceiveRequest | undefined {
    const receive = this.#incoming?.receive ?? this.#spare
    this.#incoming = undefined
    this.#spare = undefined
    return receive
  }

  take(packet: Packet, message: Message): void {
    if (this.#owner.reliable) this.#takeReliably(packet, message)
    else this.#takeUnreliably(packet, message)
  }

  #takeReliably(packet: Packet, message: Message): void {
    const ahead = psnAhead(packet.psn, this.#expectedPsn)
    if (ahead > 0) {
      if (!this.#complained) this.#negative(PacketKind.SequenceError, this.#expectedPsn, 0)
      this.#complained = true
      return
    }
    if (ahead < 0) {
      this.#repeated(packet, message)
      return
    }
    this.#complained = false
    this.#owner.established()
    const outcome = this.#carryOut(packet, message)
    if (outcome === NOT_DONE) return
    if (outcome === NOT_READY) {
      this.#complained = true
      this.#negative(PacketKind.ReceiverNotReady, packet.psn, this.#owner.minRnrTimer)
    } else if (outcome !== CompletionStatus.Success) {
      this.#negative(PacketKind.Refused, packet.psn, outcome)
      this.#owner.refusing(outcome)
    } else this.#expectedPsn = psnAfter(packet.psn, message.opcode === Opcode.Read ? message.packets - packet.index : 1)
  }

  /** A lost packet loses its whole message. What cannot be carried out is dropped silently. */
  #takeUnreliably(packet: Packet, message: Message): void {
    const begins = packet.index === 0
    if (begins || packet.psn !== this.#expectedPsn) this.#dropIncoming()
    this.#expectedPsn = psnAfter(packet.psn, 1)
    if (!begins && this.#incoming?.message !== message) return
    this.#owner.established()
    if (begins && this.#tooLong(message)) return
    if (this.#carryOut(packet, message) !== CompletionStatus.Success) this.#dropIncoming()
  }

  #dropIncoming(): void {
    this.#spare = this.#incoming?.receive ?? this.#spare
    this.#incoming = undefined
  }

  /** True if the message is too long for its receive request, which then waits for the next message. */
  #tooLong(message: Message): boolean {
    if (!takesReceiveFirst(message.opcode)) return false
    const service = this.#owner.serviceOf(message)
    if (typeof service === 'number') return true
    const receive = this.#spare ?? service.receives?.peek()
    return receive !== undefined && receive.lengthBytes < message.lengthBytes
  }

  // ---- carrying out
  // ----------------------------------------------------------------------------------------------------------------

  /** Returns a CompletionStatus for the sender, NOT_READY or NOT_DONE. */
  #carryOut(packet: Packet, message: Message): number {
    const incoming = this.#incomingOf(packet, message)
    if (typeof incoming === 'number') return incoming
    const { opcode } = message
    if (opcode === Opcode.Write || opcode === Opcode.WriteWithImmediate) return this.#write(packet, incoming)
    if (opcode === Opcode.Read) return this.#read(packet, incoming)
    return isAtomic(opcode) ? this.#atomic(packet, incoming) : this.#send(packet, incoming)
  }

  #incomingOf(packet: Packet, message: Message): Incoming | number {
    if (this.#incoming?.message === message) return this.#incoming
    const service = this.#owner.serviceOf(message)
    if (typeof service === 'number') return service
    const incoming: Incoming = { message, service, receive: undefined }
    if (packet.index < message.packets - 1 && message.opcode !== Opcode.Read) this.#incoming = incoming
    return incoming
  }

  #write(packet: Packet, incoming: Incoming): number {
    const { message, service } = incoming
    const refused = this.#writeProblem(packet, incoming)
    if (refused !== CompletionStatus.Success) return refused
    const list = this.#reach(incoming, packet.index * message.packetBytes, packet.payload.length, Access.RemoteWrite)
    if (list === undefined) return CompletionStatus.RemoteAccessError
    const last = packet.index === message.packets - 1
    const immediate = last && message.opcode === Opcode.WriteWithImmediate
    const receive = immediate ? this.#takeReceive(service) : undefined
    if (immediate && receive === undefined) return NOT_READY
    if (packet.source.host.stopsInWrite && packet.payload.length > 1) {
      this.#stopIn(packet.source.host, service.device.host, list, packet.payload)
      return NOT_DONE
    }
    const acknowledgeNs = this.#place(service.device, list, packet.payload, last)
    if (!last) return CompletionStatus.Success
    this.#incoming = undefined
    if (receive !== undefined) {
      const opcode = CompletionOpcode.ReceiveWriteWithImmediate
      this.#complete(incoming, receive, CompletionStatus.Success, opcode, CompletionFlag.WithImmediate)
    }
    this.#acknowledge(packet.psn, acknowledgeNs)
    return CompletionStatus.Success
  }

  /** Half of the bytes land. The others do when the sender's processor goes on, whatever was revoked meanwhile. */
  #stopIn(sender: Host, host: Host, list: PieceList, bytes: Uint8Array): void {
    const half = bytes.length >> 1
    const rest = list.part(half, bytes.length - half)
    put(host, list.part(0, half), bytes.subarray(0, half))
    sender.stopInWrite(() => {
      put(host, rest, bytes.subarray(half))
      this.#unfinishedOf = undefined
    })
    this.#unfinishedOf = sender
  }

  /** Wait for the adapter, which takes no time here: nothing of what has come is still under way into memory. */
  settle(): void {
    for (const block of this.#written) block.settle()
    this.#written.clear()
  }

  /** A peer is stopped in the middle of a WRITE for this queue pair. */
  get hasPeerInside(): boolean {
    return this.#unfinishedOf?.isInWrite === true
  }

  /** The first packet of a WRITE says where all of it goes. */
  #writeProblem(packet: Packet, incoming: Incoming): number {
    if ((this.#owner.access & Access.RemoteWrite) === 0) return CompletionStatus.RemoteInvalidRequest
    const { lengthBytes } = incoming.message
    const whole = packet.index > 0 || this.#reach(incoming, 0, lengthBytes, Access.RemoteWrite) !== undefined
    return whole ? CompletionStatus.Success : CompletionStatus.RemoteAccessError
  }

  #send(packet: Packet, incoming: Incoming): number {
    const { message, service } = incoming
    incoming.receive ??= this.#takeReceive(service)
    const { receive } = incoming
    if (receive === undefined) return NOT_READY
    const offset = packet.index * message.packetBytes
    const end = offset + packet.payload.length
    if (receive.lengthBytes < end)
      return this.#receiveFailed(incoming, CompletionStatus.LocalLengthError, CompletionStatus.RemoteInvalidRequest)
    const list = receive.scatter(service.device.keys, end)
    if (list === undefined)
      return this.#receiveFailed(incoming, CompletionStatus.LocalProtectionError, CompletionStatus.RemoteOperationError)
    const last = packet.index === message.packets - 1
    const acknowledgeNs = this.#place(service.device, list.part(offset, packet.payload.length), packet.payload, last)
    if (!last) return CompletionStatus.Success
    if (message.opcode === Opcode.SendWithInvalidate && !this.#invalidate(incoming))
      return this.#receiveFailed(incoming, CompletionStatus.RemoteInvalidRequest, CompletionStatus.RemoteAccessError)
    this.#incoming = undefined
    this.#complete(incoming, receive, CompletionStatus.Success, CompletionOpcode.Receive, receiveFlags(message.opcode))
    this.#acknowledge(packet.psn, acknowledgeNs)
    return CompletionStatus.Success
  }

  #invalidate({ message, service }: Incoming): boolean {
    const status = invalidateKey(service.device.keys, service.domainId, this.#owner.number, message.immediate)
    return status === CompletionStatus.Success
  }

  /**
   * The receive ends with `own`, and a reliable sender is told `theirs`. An unreliable message that is too long does
   * not get here: `#tooLong` drops it, and the receive waits for the next message.
   */
  #receiveFailed(incoming: Incoming, own: number, theirs: number): number {
    this.#incoming = undefined
    if (incoming.receive !== undefined) this.#complete(incoming, incoming.receive, own, CompletionOpcode.Receive, 0)
    return theirs
  }

  #takeReceive(service: Service): ReceiveRequest | undefined {
    const spare = this.#spare
    this.#spare = undefined
    return spare ?? service.receives?.take()
  }

  #complete(incoming: Incoming, receive: ReceiveRequest, status: number, opcode: number, flags: number): void {
    const { message, service } = incoming
    this.#owner.received(service, this.#settledNs, {
      receive,
      status,
      opcode,
      byteLength: message.lengthBytes,
      flags,
      immediate: message.immediate,
      sourceNumber: this.#peerNumber,
      solicited: message.solicited,
    })
  }

  /** Write bytes to memory, behind all that came before. Returns the time when they may be acknowledged. */
  #place(device: SimContext, list: PieceList, bytes: Uint8Array, last: boolean): number {
    const { host } = device
    const { kernel, adapter } = host
    const fromNs = Math.max(kernel.nowNs, this.#settledNs)
    const early = last && bytes.length > 0 && kernel.stream('visibility').chance(adapter.earlyAcknowledge)
    const laterNs = early ? kernel.stream('visibility').between(0, host.adapterNs(adapter.visibleNs)) : 0
    if (bytes.length > 0) this.#settledNs = device.dma.place(fromNs + laterNs, list, bytes)
    for (const { block } of list.pieces) this.#written.add(block)
    // What came before is visible in any case.
    return early ? fromNs : Math.max(kernel.nowNs, this.#settledNs)
  }

  #reach({ message, service }: Incoming, offset: number, length: number, right: number): PieceList | undefined {
    const list = new PieceList()
    if (length === 0) return list
    const wanted = { domainId: service.domainId, right, pairNumber: this.#owner.number }
    const reached = service.device.keys.reach(list, message.remoteAddress + offset, length, message.remoteKey, wanted)
    return reached ? list : undefined
  }

  // ---- READ and atomics
  // ------------------------------------------------------------------------------------------------------------

  #readable(right: number): boolean {
    return (this.#owner.access & right) !== 0 && this.#owner.readResources > 0
  }

  #read(packet: Packet, incoming: Incoming): number {
    if (!this.#readable(Access.RemoteRead)) return CompletionStatus.RemoteInvalidRequest
    const list = this.#reach(incoming, 0, incoming.message.lengthBytes, Access.RemoteRead)
    if (list === undefined) return CompletionStatus.RemoteAccessError
    this.#answer((next) => this.#readFrom(packet.index, incoming, next))
    return CompletionStatus.Success
  }

  /**
   * Send one packet of the response, then the next. Each line is read at its own time, and the key is checked again.
   */
  #readFrom(index: number, incoming: Incoming, next: () => void): void {
    const { message, service } = incoming
    const { kernel } = this.#owner.device.host
    const offset = index * message.packetBytes
    const length = Math.min(message.packetBytes, message.lengthBytes - offset)
    const list = this.#reach(incoming, offset, length, Access.RemoteRead)
    const psn = psnAfter(message.firstPsn, index)
    if (list === undefined) {
      this.#post(PacketKind.Refused, psn, NO_BYTES, CompletionStatus.RemoteAccessError, 0n)
      this.#owner.refusing(CompletionStatus.RemoteAccessError)
      return
    }
    const bytes = length === 0 ? NO_BYTES : new Uint8Array(length)
    const fromNs = Math.max(kernel.nowNs, this.#settledNs)
    const takenNs = length === 0 ? fromNs : service.device.dma.sample(fromNs, list, bytes)
    kernel.at(takenNs + service.device.network.wireNs(length), () => {
      this.#post(PacketKind.ReadResponse, psn, bytes, 0, 0n)
      if (index + 1 < message.packets) this.#readFrom(index + 1, incoming, next)
      else next()
    })
  }

  #atomic(packet: Packet, incoming: Incoming): number {
    const { message, service } = incoming
    if (!this.#readable(Access.RemoteAtomic)) return CompletionStatus.RemoteInvalidRequest
    if (message.remoteAddress % 8 !== 0) return CompletionStatus.RemoteInvalidRequest
    const list = this.#reach(incoming, 0, 8, Access.RemoteAtomic)
    if (list === undefined) return CompletionStatus.RemoteAccessError
    const [piece] = list.pieces
    // A word in two pieces cannot be changed atomically.
    if (piece?.length !== 8) return CompletionStatus.RemoteOperationError
    const doneNs = service.device.atomically(
      Math.max(service.device.host.kernel.nowNs, this.#settledNs),
      piece,
      (old) => {
        const word = BigInt64Array.of(old)
        changeAtomically(word, 0, message.request, message.opcode)
        this.#remember(packet.psn, old)
        return word[0]!
      },
    )
    this.#answer((next) => this.#answerAtomic(packet.psn, doneNs, next))
    return CompletionStatus.Success
  }

  #answerAtomic(psn: number, atNs: number, next: () => void): void {
    const { kernel } = this.#owner.device.host
    kernel.at(atNs, () => {
      const old = this.#atomics.get(psn)
      if (old !== undefined) this.#post(PacketKind.AtomicResponse, psn, NO_BYTES, 0, old)
      next()
    })
  }

  #remember(psn: number, old: bigint): void {
    this.#atomics.set(psn, old)
    if (this.#atomics.size <= SAVED_ATOMICS) return
    const [oldest] = this.#atomics.keys()
    this.#atomics.delete(oldest!)
  }

  /**
   * It was carried out before. A WRITE or SEND is acknowledged again, a READ is carried out again, and an atomic is
   * answered as before.
   */
  #repeated(packet: Packet, message: Message): void {
    if (message.opcode === Opcode.Read) {
      const service = this.#owner.serviceOf(message)
      if (typeof service !== 'number')
        this.#answer((next) => this.#readFrom(packet.index, { message, service, receive: undefined }, next))
    } else if (isAtomic(message.opcode)) this.#answer((next) => this.#answerAtomic(packet.psn, 0, next))
    else this.#acknowledge(psnAfter(this.#expectedPsn, -1), 0)
  }

  // ---- answering
  // -------------------------------------------------------------------------------------------------------------------

  #acknowledge(psn: number, atNs: number): void {
    this.#later(PacketKind.Acknowledge, psn, atNs, 0)
  }

  #negative(kind: PacketKind, psn: number, value: number): void {
    this.#later(kind, psn, this.#settledNs, value)
  }

  #later(kind: PacketKind, psn: number, atNs: number, value: number): void {
    if (!this.#owner.reliable) return
    this.#answer((next) => {
      const { kernel } = this.#owner.device.host
      const wireNs = this.#owner.device.network.wireNs(0)
      kernel.at(Math.max(kernel.nowNs, atNs) + wireNs, () => {
        this.#post(kind, psn, NO_BYTES, value, 0n)
        next()
      })
    })
  }

  /** Answers leave in the order of the requests. */
  #answer(answer: Answer): void {
    this.#answers.push(answer)
    if (!this.#answering) this.#answerNext()
  }

  #answerNext(): void {
    const answer = this.#answers.shift()
    this.#answering = answer !== undefined
    answer?.(() => this.#answerNext())
  }

  #post(kind: PacketKind, psn: number, payload: Uint8Array, value: number, word: bigint): void {
    const { device, number, generation } = this.#owner
    if (generation !== this.#generation) return
    device.network.send({
      kind,
      source: device,
      sourceNumber: number,
      targetGid: this.#peerGid,
      targetNumber: this.#peerNumber,
      flow: this.#flow,
      psn,
      message: undefined,
      index: 0,
      payload,
      value,
      word,
    })
  }
}

/** A SEND consumes a receive request with its first packet. */
function takesReceiveFirst(opcode: number): boolean {
  return opcode === Opcode.Send || opcode === Opcode.SendWithImmediate || opcode === Opcode.SendWithInvalidate
}

function put(host: Host, list: PieceList, bytes: Uint8Array): void {
  host.changes += 1
  let done = 0
  for (const { block, offset, length } of list.pieces) {
    block.bytes.set(bytes.subarray(done, done + length), offset)
    done += length
  }
}

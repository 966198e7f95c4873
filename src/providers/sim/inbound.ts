import { CompletionFlag, CompletionOpcode, Opcode } from '../opcode.ts'
import type { QueuePairAttributes } from '../queue-pair-contract.ts'
import type { QueuePairType } from '../queue-pair-state.ts'
import { GLOBAL_ROUTE_BYTES } from '../soft/global-route.ts'
import { CompletionStatus } from '../status.ts'
import type { Message, Packet } from './packet.ts'
import type { ReceiveRequest } from './receive-request.ts'
import { Responder, type ResponderOwner, type Service } from './responder.ts'

/** What the receive side needs of its queue pair. */
interface InboundPair extends ResponderOwner {
  readonly type: QueuePairType
  readonly dcAccessKey: bigint | undefined
  readonly attributes: QueuePairAttributes
  /** Put it into the error state. */
  fail(): void
}

/**
 * What comes in at a queue pair. A connected one receives from its one peer, a dynamic target from many initiators, and
 * a datagram queue pair from any sender.
 */
export class Inbound {
  readonly #pair: InboundPair
  #responder: Responder | undefined
  /** For a dynamic target, by initiator and connection. */
  readonly #connections = new Map<string, Responder>()

  constructor(pair: InboundPair) {
    this.#pair = pair
  }

  /** INIT -> RTR. */
  connect(attributes: QueuePairAttributes): void {
    const { addressVector, destinationQueuePair = 0, receivePsn = 0 } = attributes
    this.disconnect()
    if (addressVector !== undefined && attributes.destinationQueuePair !== undefined)
      this.#responder = new Responder(this.#pair, addressVector.gid, destinationQueuePair, receivePsn)
  }

  disconnect(): void {
    this.#responder = undefined
    this.#connections.clear()
  }

  /** Nothing of what the peer has sent is still under way into memory. */
  settle(): void {
    this.#responder?.settle()
  }

  /** The peer is stopped in the middle of a WRITE. */
  get hasPeerInside(): boolean {
    return this.#responder?.hasPeerInside === true
  }

  /** The receive request of an incomplete message. */
  abandon(): ReceiveRequest | undefined {
    return this.#responder?.abandon()
  }

  take(packet: Packet): void {
    const { message } = packet
    if (message === undefined) return
    if (this.#pair.type === 'ud') this.#datagram(packet, message)
    else if (this.#pair.type === 'dct') this.#dynamic(packet, message)
    else if (this.#responder?.isFor(packet) === true) this.#responder.take(packet, message)
  }

  /** An initiator that names the target's key is connected to it for one message. */
  #dynamic(packet: Packet, message: Message): void {
    const key = `${packet.source.gid}/${packet.sourceNumber}/${message.session}`
    const known = this.#connections.get(key)
    const responder = known ?? new Responder(this.#pair, packet.source.gid, packet.sourceNumber, packet.psn)
    if (message.accessKey !== this.#pair.dcAccessKey) {
      responder.refuse(packet.psn, CompletionStatus.RemoteAccessError)
      return
    }
    this.#connections.set(key, responder)
    if (packet.index === 0) responder.skipTo(packet.psn)
    responder.take(packet, message)
  }

  /**
   * Drop the datagram if there is no receive request, its queue key is wrong, or the receive is too short (IB
   * specification 9.8.3.2: the sender is not told).
   */
  #datagram(packet: Packet, message: Message): void {
    const service = this.#pair.serviceOf(message)
    if (typeof service === 'number' || message.queueKey !== (this.#pair.attributes.queueKey ?? 0)) return
    const total = GLOBAL_ROUTE_BYTES + packet.payload.length
    const receive = service.receives?.peek()
    if (receive === undefined || receive.lengthBytes < total) return
    service.receives?.take()
    this.#pair.established()
    const bytes = new Uint8Array(total)
    bytes.set(message.route ?? [])
    bytes.set(packet.payload, GLOBAL_ROUTE_BYTES)
    this.#deliver(packet, message, service, receive, bytes)
  }

  #deliver(packet: Packet, message: Message, service: Service, receive: ReceiveRequest, bytes: Uint8Array): void {
    const { device } = this.#pair
    const list = receive.scatter(device.keys, bytes.length)
    const immediate = message.opcode === Opcode.SendWithImmediate ? CompletionFlag.WithImmediate : 0
    const landedNs = list === undefined ? 0 : device.dma.place(device.host.kernel.nowNs, list, bytes)
    this.#pair.received(service, landedNs, {
      receive,
      status: list === undefined ? CompletionStatus.LocalProtectionError : CompletionStatus.Success,
      opcode: CompletionOpcode.Receive,
      byteLength: bytes.length,
      flags: CompletionFlag.GlobalRoute | immediate,
      immediate: message.immediate,
      sourceNumber: packet.sourceNumber,
      solicited: message.solicited,
    })
    if (list === undefined) this.#pair.fail()
  }
}

import { SystemError } from '../../native/index.ts'
import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { type Gid, isMulticast } from '../gid.ts'
import type { QueuePairAttributes } from '../queue-pair-contract.ts'
import { GlobalRoute } from '../soft/global-route.ts'
import { MAX_MTU } from '../soft/limits.ts'
import { CompletionStatus } from '../status.ts'
import type { AddressingDevice, ShmAddressHandle } from './address-handle.ts'
import { BlockKind, BlockWord } from './layout.ts'
import { multicastMembers } from './multicast.ts'
import type { PeerDevice } from './peer-device.ts'
import type { ShmRequester } from './requester.ts'
import { BlockResponder } from './responder.ts'
import { Span } from './span.ts'
import type { Transport } from './transport.ts'
import { reachable, sharedInbox } from './visiting.ts'
import type { Visit } from './visitors.ts'

/** A queue key with this bit set means that the queue pair's own is sent (IB specification 10.2.5). */
const OWN_QUEUE_KEY = 0x80000000

/** `ud`: each request names its destination, and is not answered. */
export class DatagramTransport implements Transport {
  readonly peer = undefined
  readonly rnrTimer = 0
  readonly #device: AddressingDevice
  readonly #requester: ShmRequester
  readonly #domainId: number
  readonly #route: GlobalRoute
  readonly #header: Span
  #queueKey = 0

  constructor(device: AddressingDevice, requester: ShmRequester, domainId: number) {
    this.#device = device
    this.#requester = requester
    this.#domainId = domainId
    this.#route = new GlobalRoute(device.gid)
    this.#header = new Span(this.#route.bytes, 0, 0)
  }

  set queueKey(key: number) {
    this.#queueKey = key
  }

  admits(request: EncodedRequest): boolean {
    return this.#handleOf(request)?.domain.id === this.#domainId
  }

  connect(): void {
    this.#device.listen()
  }

  start(attributes: QueuePairAttributes): void {
    this.#queueKey = attributes.queueKey ?? 0
  }

  execute(request: EncodedRequest): number {
    const status = this.#requester.gather(request, request.words[RequestSlot.Opcode]!)
    if (status !== CompletionStatus.Success) return status
    const handle = this.#handleOf(request)
    const bytes = this.#requester.gathered
    // Longer than a packet: nothing is sent, which is not an error (C10-93.1.1).
    if (handle === undefined || bytes > MAX_MTU) return CompletionStatus.Success
    this.#route.describe(handle.vector, bytes)
    const { gid } = handle.vector
    if (isMulticast(gid)) this.#sendToGroup(request, gid)
    else this.#sendTo(request, handle.open(), request.words[RequestSlot.RemoteQueuePair]!)
    return CompletionStatus.Success
  }

  setWaiting(): void {
    return
  }

  close(): void {
    return
  }

  #handleOf(request: EncodedRequest): ShmAddressHandle | undefined {
    return this.#device.addressHandles.get(request.words[RequestSlot.AddressHandle]!)
  }

  #sendToGroup(request: EncodedRequest, group: Gid): void {
    for (const { gid, number } of multicastMembers(group)) {
      const peer = reachable(this.#device, gid)
      if (peer === undefined) continue
      try {
        this.#sendTo(request, peer, number)
      } finally {
        this.#device.closePeer(peer)
      }
    }
  }

  #sendTo(request: EncodedRequest, peer: PeerDevice | undefined, number: number): void {
    const visit = peer?.visit()
    if (peer === undefined || visit === undefined || peer.died) return
    visit.enter()
    try {
      this.#deliver(request, peer, visit, number)
    } catch (error) {
      // The receiver's memory can no longer be reached: the datagram is lost.
      if (!(error instanceof SystemError)) throw error
    } finally {
      visit.leave()
    }
  }

  #deliver(request: EncodedRequest, peer: PeerDevice, visit: Visit, number: number): void {
    const target = peer.sharedTarget(number, BlockKind.Datagram)
    const block = target.open()
    if (block === undefined || block.words[BlockWord.QueueKey] !== (this.#keyFor(request) | 0)) return
    const shared = block.words[BlockWord.SharedQueue]!
    const inbox = shared === 0 ? target.inbox(visit.index) : sharedInbox(peer, visit, shared)
    const responder = new BlockResponder(peer, number, block, inbox)
    const opcode = request.words[RequestSlot.Opcode]!
    this.#requester.deliverDatagram(request, opcode, responder, block, this.#header)
  }

  #keyFor(request: EncodedRequest): number {
    const key = request.words[RequestSlot.QueueKey]!
    return key >= OWN_QUEUE_KEY ? this.#queueKey : key
  }
}

import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import type { QueuePairAttributes } from '../queue-pair-contract.ts'
import { Outcome } from '../soft/outcome.ts'
import { CompletionStatus } from '../status.ts'
import type { AddressingDevice, ShmAddressHandle } from './address-handle.ts'
import type { Inbox } from './inbox.ts'
import { BlockKind, BlockWord } from './layout.ts'
import type { PairBlock } from './pair-block.ts'
import type { PeerDevice } from './peer-device.ts'
import type { ShmRequester } from './requester.ts'
import type { Reachable, Responder } from './responder.ts'
import type { Transport } from './transport.ts'
import { sharedInbox } from './visiting.ts'

/** `dci`: reliable; each request connects to the target that it names. */
export class DynamicTransport implements Transport {
  readonly peer = undefined
  readonly #device: AddressingDevice
  readonly #requester: ShmRequester
  readonly #domainId: number
  #target: DynamicTarget | undefined

  constructor(device: AddressingDevice, requester: ShmRequester, domainId: number) {
    this.#device = device
    this.#requester = requester
    this.#domainId = domainId
  }

  admits(request: EncodedRequest): boolean {
    return this.#handleOf(request)?.domain.id === this.#domainId
  }

  connect(): void {
    return
  }

  start(attributes: QueuePairAttributes): void {
    this.#requester.maxReadAtomic = attributes.maxReadAtomic ?? 0
  }

  execute(request: EncodedRequest): number {
    const peer = this.#handleOf(request)?.open()
    if (peer === undefined) return Outcome.NotReady
    const number = request.words[RequestSlot.RemoteQueuePair]!
    if (this.#target?.peer !== peer || this.#target.number !== number) this.#target = new DynamicTarget(peer, number)
    return this.#requester.carryOut(request, request.words[RequestSlot.Opcode]!, this.#target)
  }

  get rnrTimer(): number {
    return this.#target?.rnrTimer ?? 0
  }

  setWaiting(): void {
    return
  }

  close(): void {
    this.#target = undefined
  }

  #handleOf(request: EncodedRequest): ShmAddressHandle | undefined {
    return this.#device.addressHandles.get(request.words[RequestSlot.AddressHandle]!)
  }
}

/** A target as one initiator sees it. Many initiators use it together, so an error affects only the initiator. */
class DynamicTarget implements Reachable, Responder {
  readonly peer: PeerDevice
  readonly number: number
  block: PairBlock | undefined = undefined
  rnrTimer = 0
  #seen = false

  constructor(peer: PeerDevice, number: number) {
    this.peer = peer
    this.number = number
  }

  enter(): boolean {
    const visit = this.peer.visit()
    if (visit === undefined) return false
    visit.enter()
    this.block = this.peer.sharedTarget(this.number, BlockKind.DynamicTarget).open()
    if (this.block === undefined) {
      visit.leave()
      return false
    }
    this.#seen = true
    this.rnrTimer = this.block.words[BlockWord.MinRnrTimer]!
    return true
  }

  leave(): void {
    this.peer.visit()?.leave()
  }

  get vanished(): boolean {
    return this.peer.gone || (this.#seen && !this.peer.has(this.number))
  }

  responder(request: EncodedRequest): Responder | number {
    const { words } = this.block!
    const key = request.bits[RequestSlot.AccessKey]!
    const low = Number(BigInt.asIntN(32, key))
    const high = Number(BigInt.asIntN(32, key >> 32n))
    const fits = words[BlockWord.AccessKey] === low && words[BlockWord.AccessKey + 1] === high
    return fits ? this : CompletionStatus.RemoteAccessError
  }

  get domainId(): number {
    return this.block!.words[BlockWord.Domain]!
  }

  get queueIndex(): number {
    return this.block!.words[BlockWord.ReceiveQueue]!
  }

  get inbox(): Inbox | undefined {
    const visit = this.peer.visit()
    const number = this.block!.words[BlockWord.SharedQueue]!
    return visit === undefined ? undefined : sharedInbox(this.peer, visit, number)
  }

  fault(): void {
    return
  }
}

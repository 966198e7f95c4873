import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import type { QueuePairAttributes } from '../queue-pair-contract.ts'
import { Outcome } from '../soft/outcome.ts'
import { CompletionStatus } from '../status.ts'
import { gidWords } from './gid.ts'
import { BlockWord } from './layout.ts'
import type { PairBlock } from './pair-block.ts'
import type { PeerDevice } from './peer-device.ts'
import type { ShmRequester } from './requester.ts'
import { Target } from './target.ts'
import type { Transport } from './transport.ts'
import type { VisitingDevice } from './visiting.ts'

/** What a connected queue pair needs to find its peer and to be found. */
export interface ConnectedParts {
  readonly device: VisitingDevice
  readonly requester: ShmRequester
  readonly block: PairBlock
  readonly number: number
}

/** `rc`: one peer, and every request is answered. */
export class ReliableTransport implements Transport {
  peer: PeerDevice | undefined = undefined
  protected readonly parts: ConnectedParts
  protected readonly requester: ShmRequester
  protected target: Target | undefined = undefined

  constructor(parts: ConnectedParts) {
    this.parts = parts
    this.requester = parts.requester
  }

  admits(): boolean {
    return true
  }

  connect(attributes: QueuePairAttributes): void {
    const { device, block } = this.parts
    const gid = attributes.addressVector!.gid
    this.peer = device.openPeer(gid)
    this.target = this.makeTarget(this.peer, attributes.destinationQueuePair!, gidWords(device.gid))
    gidWords(gid).forEach((word, index) => {
      block.words[BlockWord.DestinationGid + index] = word
    })
  }

  start(attributes: QueuePairAttributes): void {
    this.target!.sendPsn = attributes.sendPsn!
    this.requester.maxReadAtomic = attributes.maxReadAtomic ?? 0
  }

  execute(request: EncodedRequest): number {
    return this.requester.execute(request, this.target!)
  }

  get rnrTimer(): number {
    return this.target?.rnrTimer ?? 0
  }

  setWaiting(on: boolean): void {
    if (this.target !== undefined) this.target.waiting = on
  }

  close(): void {
    this.target?.close()
    this.target = undefined
    if (this.peer !== undefined) this.parts.device.closePeer(this.peer)
    this.peer = undefined
  }

  protected makeTarget(peer: PeerDevice, number: number, ownGid: readonly number[]): Target {
    return new Target(peer, number, this.parts.number, ownGid, true)
  }
}

/**
 * Up to here a status is about this end (IB specification 11.6.2). The sender of an unreliable connection learns of
 * nothing else.
 */
const LAST_LOCAL_STATUS: number = CompletionStatus.MemoryWindowBindError

/**
 * `uc`: one peer, and requests are not answered. What does not arrive is lost, and the sender's completion still says
 * success (IB specification 9.8.2).
 */
export class UnreliableTransport extends ReliableTransport {
  override execute(request: EncodedRequest): number {
    const status = this.requester.carryOut(request, request.words[RequestSlot.Opcode]!, this.target!)
    const lost = status > LAST_LOCAL_STATUS || status === Outcome.NotReady || status === Outcome.NoReceive
    return lost ? CompletionStatus.Success : status
  }

  protected override makeTarget(peer: PeerDevice, number: number, ownGid: readonly number[]): Target {
    return new Target(peer, number, this.parts.number, ownGid, false)
  }
}

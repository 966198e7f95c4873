import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { CompletionStatus } from '../status.ts'
import { ReliableTransport } from './connected-transport.ts'
import { BlockKind, BlockWord } from './layout.ts'
import type { PairBlock } from './pair-block.ts'
import type { PeerDevice } from './peer-device.ts'
import { BlockResponder, type Responder } from './responder.ts'
import { Target } from './target.ts'
import { reachable, sharedInbox, type VisitingDevice } from './visiting.ts'
import type { Visit } from './visitors.ts'
import { sharedQueueOwner } from './xrc-domain.ts'

/**
 * `xrc-send`: connected to a receive queue pair, but each request names the shared receive queue that answers it.
 * Messages go there, and keys are those of its device and protection domain (IB specification, annex A14). That queue
 * may belong to another process than the queue pair.
 */
export class XrcTransport extends ReliableTransport {
  override execute(request: EncodedRequest): number {
    return this.requester.carryOut(request, request.words[RequestSlot.Opcode]!, this.target!)
  }

  protected override makeTarget(peer: PeerDevice, number: number, ownGid: readonly number[]): Target {
    return new XrcTarget(this.parts.device, peer, number, this.parts.number, ownGid)
  }
}

class XrcTarget extends Target {
  readonly #device: VisitingDevice
  /** Owners of shared receive queues by their numbers; the connected peer itself is not among them. */
  readonly #owners = new Map<number, PeerDevice>()
  #visit: Visit | undefined

  constructor(device: VisitingDevice, peer: PeerDevice, number: number, ownNumber: number, ownGid: readonly number[]) {
    super(peer, number, ownNumber, ownGid, true)
    this.#device = device
  }

  override responder(request: EncodedRequest): Responder | number {
    const number = request.words[RequestSlot.RemoteQueuePair]!
    const block = this.block!
    const owner = this.#ownerOf(number, block)
    const visit = owner?.visit()
    if (owner === undefined || visit === undefined) return CompletionStatus.RemoteInvalidRequest
    visit.enter()
    this.#visit = visit
    const queue = owner.sharedTarget(number, BlockKind.SharedQueue).open()
    if (queue === undefined || !isSameDomain(queue, block)) return CompletionStatus.RemoteInvalidRequest
    return new BlockResponder(owner, this.number, queue, sharedInbox(owner, visit, number))
  }

  override leave(): void {
    this.#visit?.leave()
    this.#visit = undefined
    super.leave()
  }

  override close(): void {
    for (const owner of this.#owners.values()) this.#device.closePeer(owner)
    this.#owners.clear()
    super.close()
  }

  #ownerOf(number: number, block: PairBlock): PeerDevice | undefined {
    if (this.peer.has(number)) return this.peer
    const known = this.#owners.get(number)
    if (known !== undefined && !known.gone) return known
    if (known !== undefined) this.#device.closePeer(known)
    this.#owners.delete(number)
    const gid = sharedQueueOwner(block.words, number)
    const owner = gid === undefined ? undefined : reachable(this.#device, gid)
    if (owner !== undefined) this.#owners.set(number, owner)
    return owner
  }
}

function isSameDomain(one: PairBlock, other: PairBlock): boolean {
  const at = BlockWord.XrcDomain
  return one.words[at] === other.words[at] && one.words[at + 1] === other.words[at + 1]
}

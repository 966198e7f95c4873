import type { QueuePairAttributes } from '../queue-pair-contract.ts'
import type { QueuePairState } from '../queue-pair-state.ts'
import { noPairOf } from '../soft/opened-pair.ts'
import { BlockWord, stateOf } from './layout.ts'
import type { PairBlock } from './pair-block.ts'
import type { PeerDevice } from './peer-device.ts'
import { reachable, type VisitingDevice } from './visiting.ts'
import type { ShmXrcDomain } from './xrc-domain.ts'

/** The block of an XRC receive queue pair that another process may have created. */
export class OpenedBlock {
  readonly number: number
  readonly #device: VisitingDevice
  readonly #peer: PeerDevice
  readonly #block: PairBlock

  constructor(device: VisitingDevice, domain: ShmXrcDomain, number: number) {
    const gid = domain.ownerOf(number)
    const peer = gid === undefined ? undefined : reachable(device, gid)
    const block = peer?.openBlock(number)
    if (peer === undefined || block === undefined || !domain.has(block.words)) {
      if (peer !== undefined) device.closePeer(peer)
      throw noPairOf(number)
    }
    this.number = number
    this.#device = device
    this.#peer = peer
    this.#block = block
  }

  get state(): QueuePairState {
    return stateOf(Atomics.load(this.#block.words, BlockWord.State)) as QueuePairState
  }

  query(): QueuePairAttributes {
    const { words } = this.#block
    return {
      state: this.state,
      currentState: this.state,
      access: words[BlockWord.Access]!,
      destinationQueuePair: words[BlockWord.DestinationNumber]!,
      receivePsn: words[BlockWord.ReceivePsn]!,
      minRnrTimer: words[BlockWord.MinRnrTimer]!,
      maxDestinationReadAtomic: words[BlockWord.MaxReadAtomic]!,
    }
  }

  close(): void {
    this.#peer.closeBlock(this.#block)
    this.#device.closePeer(this.#peer)
  }
}

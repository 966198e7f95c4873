import { UnsupportedError } from '../../native/index.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { Gid } from '../gid.ts'
import type { PairCapabilities } from '../pair-capabilities.ts'
import type { ProviderQueuePair, QueuePairAttributes, QueuePairCapacities } from '../queue-pair-contract.ts'
import type { QueuePairState } from '../queue-pair-state.ts'
import type { ShmDevice } from './device.ts'
import { shmCapabilities } from './device-attributes.ts'
import { BlockWord, stateOf } from './layout.ts'
import type { PairBlock } from './pair-block.ts'
import type { PeerDevice } from './peer-device.ts'
import { reachable } from './visiting.ts'
import type { ShmXrcDomain } from './xrc-domain.ts'

/** It neither sends nor receives by itself. */
const NOTHING: QueuePairCapacities = {
  maxSendRequests: 0,
  maxReceiveRequests: 0,
  maxSendSegments: 0,
  maxReceiveSegments: 0,
  maxInlineBytes: 0,
}

/**
 * A further handle on an XRC receive queue pair, found by its number: its block, seen from outside. Only the process
 * that created the queue pair changes it. The queue pair ends with that process, since no kernel keeps it.
 */
export class OpenedBlock implements ProviderQueuePair {
  readonly number: number
  readonly type = 'xrc-receive'
  readonly capacities: QueuePairCapacities = NOTHING
  readonly capabilities: PairCapabilities = shmCapabilities
  readonly lastErrno: number = Errno.EINVAL
  readonly #device: ShmDevice
  readonly #peer: PeerDevice
  readonly #block: PairBlock

  constructor(device: ShmDevice, domain: ShmXrcDomain, number: number) {
    const gid = domain.ownerOf(number)
    const peer = gid === undefined ? undefined : reachable(device, gid)
    const block = peer?.openBlock(number)
    if (peer === undefined || block === undefined || !domain.has(block.words)) {
      if (peer !== undefined) device.closePeer(peer)
      const what = `the XRC domain has no receive queue pair of number ${number}`
      throw new VerbsError('ibv_open_qp', Errno.EINVAL, what)
    }
    this.number = number
    this.#device = device
    this.#peer = peer
    this.#block = block
  }

  get state(): QueuePairState {
    return stateOf(Atomics.load(this.#block.words, BlockWord.State)) as QueuePairState
  }

  modify(): void {
    throw new UnsupportedError(
      'ibv_modify_qp: on shm, only the process that created an XRC receive queue pair can change it',
    )
  }

  async modifyAsync(): Promise<void> {
    this.modify()
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

  postSend(): number {
    return Errno.EINVAL
  }

  postSendList(): number {
    return 0
  }

  postReceive(): number {
    return Errno.EINVAL
  }

  postReceiveList(): number {
    return 0
  }

  attachMulticast(_group: Gid): void {
    throw new VerbsError('ibv_attach_mcast', Errno.EINVAL, 'only queue pairs of type ud take datagrams')
  }

  detachMulticast(group: Gid): void {
    this.attachMulticast(group)
  }

  destroy(): void {
    this.#peer.closeBlock(this.#block)
    this.#device.closePeer(this.#peer)
  }
}

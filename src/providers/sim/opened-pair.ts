import { UnsupportedError } from '../../native/index.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { PairCapabilities } from '../pair-capabilities.ts'
import type { ProviderQueuePair, QueuePairAttributes, QueuePairCapacities } from '../queue-pair-contract.ts'
import type { QueuePairState } from '../queue-pair-state.ts'
import { simCapabilities } from './device-attributes.ts'
import type { SimXrcDomain } from './xrc-domain.ts'

/** It neither sends nor receives by itself. */
const NOTHING: QueuePairCapacities = {
  maxSendRequests: 0,
  maxReceiveRequests: 0,
  maxSendSegments: 0,
  maxReceiveSegments: 0,
  maxInlineBytes: 0,
}

/**
 * A further handle on an XRC receive queue pair, found by its number. Only the process that created the queue pair
 * changes it, and it ends with that process.
 */
export class OpenedPair implements ProviderQueuePair {
  readonly number: number
  readonly type = 'xrc-receive'
  readonly capacities: QueuePairCapacities = NOTHING
  readonly capabilities: PairCapabilities = simCapabilities
  readonly lastErrno: number = Errno.EINVAL
  readonly #pair: ProviderQueuePair

  constructor(domain: SimXrcDomain, number: number) {
    const pair = domain.members.pairs.get(number)
    if (pair === undefined) {
      const what = `the XRC domain has no receive queue pair of number ${number}`
      throw new VerbsError('ibv_open_qp', Errno.EINVAL, what)
    }
    this.number = number
    this.#pair = pair
  }

  get state(): QueuePairState {
    return this.#pair.state
  }

  modify(): void {
    throw new UnsupportedError(
      'ibv_modify_qp: on sim, only the process that created an XRC receive queue pair can change it',
    )
  }

  async modifyAsync(): Promise<void> {
    this.modify()
  }

  query(): QueuePairAttributes {
    return this.#pair.query()
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

  attachMulticast(): void {
    throw new VerbsError('ibv_attach_mcast', Errno.EINVAL, 'only queue pairs of type ud take datagrams')
  }

  detachMulticast(): void {
    this.attachMulticast()
  }

  destroy(): void {
    return
  }
}

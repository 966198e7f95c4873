import { UnsupportedError } from '../../native/index.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { PairCapabilities } from '../pair-capabilities.ts'
import type { ProviderQueuePair, QueuePairAttributes, QueuePairCapacities } from '../queue-pair-contract.ts'
import type { QueuePairState } from '../queue-pair-state.ts'

/** It neither sends nor receives by itself. */
const NOTHING: QueuePairCapacities = {
  maxSendRequests: 0,
  maxReceiveRequests: 0,
  maxSendSegments: 0,
  maxReceiveSegments: 0,
  maxInlineBytes: 0,
}

/** An XRC receive queue pair, seen from outside. */
interface SeenPair {
  readonly number: number
  readonly state: QueuePairState
  query(): QueuePairAttributes
}

/**
 * A further handle on an XRC receive queue pair, found by its number. Only the process that created the queue pair
 * changes it. The queue pair ends with that process, since no kernel keeps it.
 */
export class OpenedPair implements ProviderQueuePair {
  readonly number: number
  readonly type = 'xrc-receive'
  readonly capacities: QueuePairCapacities = NOTHING
  readonly capabilities: PairCapabilities
  readonly lastErrno: number = Errno.EINVAL
  readonly #provider: string
  readonly #pair: SeenPair
  readonly #close: () => void

  constructor(provider: string, capabilities: PairCapabilities, pair: SeenPair, close: () => void) {
    this.number = pair.number
    this.capabilities = capabilities
    this.#provider = provider
    this.#pair = pair
    this.#close = close
  }

  get state(): QueuePairState {
    return this.#pair.state
  }

  modify(): void {
    const what = 'only the process that created an XRC receive queue pair can change it'
    throw new UnsupportedError(`ibv_modify_qp: on ${this.#provider}, ${what}`)
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
    this.#close()
  }
}

export function noPairOf(number: number): VerbsError {
  const what = `the XRC domain has no receive queue pair of number ${number}`
  return new VerbsError('ibv_open_qp', Errno.EINVAL, what)
}

import { ArgumentError } from '../native/index.ts'
import type { CompletionQueue, ProtectionDomain, QueuePair, QueuePairOptions } from '../verbs/index.ts'
import type { PortSpace } from './carrier.ts'
import { SharedDevice } from './shared-device.ts'

/**
 * The queue pair of a connection: what it is made of, or one of your own. What is left out the connection makes, and
 * closes with itself.
 */
export interface PairOptions extends Partial<Omit<QueuePairOptions, 'type'>> {
  /** Default: one that all connections on that device share which brought none. */
  readonly domain?: ProtectionDomain
  /**
   * A queue pair of your own, in RESET, of the type that the port space wants (`rc`, `ud`). It stays yours to close.
   */
  readonly pair?: QueuePair
  /** Rights of the peer through this queue pair; default all. Memory has rights of its own. */
  readonly access?: number
  /** Called once the queue pair is in INIT and before the peer can send: the place to post receives. */
  readonly prepare?: (pair: QueuePair) => void
}

const DEFAULT_REQUESTS = 64

/** A queue pair with everything that was made for it, to be given back in one step. */
export class ConnectionPair {
  readonly pair: QueuePair
  readonly #taken: (() => void)[]

  private constructor(pair: QueuePair, taken: (() => void)[]) {
    this.pair = pair
    this.#taken = taken
  }

  /** Where it throws, nothing is left. */
  static make(deviceName: string, portSpace: PortSpace, options: PairOptions): ConnectionPair {
    const taken: (() => void)[] = []
    try {
      return new ConnectionPair(options.pair ?? makePair(deviceName, portSpace, options, taken), taken)
    } catch (error) {
      giveBack(taken)
      throw error
    }
  }

  /** Idempotent. */
  release(): void {
    giveBack(this.#taken.splice(0))
  }
}

/** Last taken first. What one refuses does not keep the others. */
function giveBack(taken: readonly (() => void)[]): void {
  let failure: { readonly error: unknown } | undefined
  for (const release of [...taken].reverse()) {
    try {
      release()
    } catch (error) {
      failure ??= { error }
    }
  }
  if (failure !== undefined) throw failure.error
}

function makePair(deviceName: string, portSpace: PortSpace, options: PairOptions, taken: (() => void)[]): QueuePair {
  const { pair: _, prepare: __, access: ___, domain: ____, ...rest } = options
  const domain = options.domain ?? sharedDomain(deviceName, taken)
  const queue =
    rest.sendQueue !== undefined && rest.receiveQueue !== undefined ? undefined : ownQueue(domain, options, taken)
  const pair = domain.createQueuePair({
    ...rest,
    type: portSpace === 'tcp' ? 'rc' : 'ud',
    sendQueue: rest.sendQueue ?? queue!,
    receiveQueue: rest.receiveQueue ?? queue!,
  })
  taken.push(() => pair.close())
  return pair
}

function sharedDomain(deviceName: string, taken: (() => void)[]): ProtectionDomain {
  const shared = SharedDevice.acquire(deviceName)
  taken.push(() => shared.release())
  return shared.domain
}

/** Holds every completion that can be outstanding, so it cannot overrun. */
function ownQueue(domain: ProtectionDomain, options: PairOptions, taken: (() => void)[]): CompletionQueue {
  const { maxSendRequests = DEFAULT_REQUESTS, maxReceiveRequests = DEFAULT_REQUESTS } = options
  const queue = domain.device.createCompletionQueue({ depth: maxSendRequests + maxReceiveRequests })
  taken.push(() => queue.close())
  return queue
}

/** What was brought must belong together, and to the device that the connection runs over. */
export function checkPairOptions(options: PairOptions, portSpace: PortSpace): void {
  const { pair, domain, sendQueue, receiveQueue } = options
  const type = portSpace === 'tcp' ? 'rc' : 'ud'
  if (pair !== undefined && pair.type !== type)
    throw new ArgumentError('pair', `port space ${portSpace} needs a queue pair of type ${type}, not ${pair.type}`)
  if (pair !== undefined && (domain ?? sendQueue ?? receiveQueue) !== undefined)
    throw new ArgumentError('pair', 'a queue pair has its domain and queues already; leave those out')
  if (domain === undefined && (sendQueue ?? receiveQueue) !== undefined)
    throw new ArgumentError('domain', 'completion queues of your own need the protection domain of the same device')
}

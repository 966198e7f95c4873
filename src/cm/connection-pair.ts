import { ArgumentError, checkFunction, checkInstance, checkWhole } from '../native/index.ts'
import { CompletionQueue, type PairDomain, ProtectionDomain, QueuePair, type QueuePairOptions } from '../verbs/index.ts'
import type { PortSpace } from './carrier.ts'
import { SharedDevice } from './shared-device.ts'

/**
 * The queue pair of a connection: your own, or what to make it from. The connection makes what you leave out, and
 * closes it when it is closed.
 */
export interface PairOptions extends Partial<Omit<QueuePairOptions, 'type'>> {
  /** Default: a domain shared by all connections on that device that were given none. */
  readonly domain?: PairDomain
  /**
   * A queue pair of your own, in RESET, of the type that the port space needs (`rc`, `ud`). Closing it stays your task.
   */
  readonly pair?: QueuePair
  /** What the peer may do through this queue pair. Default: all. Memory has rights of its own. */
  readonly access?: number
  /** Called once the queue pair is in INIT and before the peer can send. Post receives here. */
  readonly prepare?: (pair: QueuePair) => void
}

const DEFAULT_REQUESTS = 64
/** What the fields of struct ibv_qp_cap hold; the device may take fewer. */
const REQUESTS_MAX = 2 ** 32 - 1

/** A queue pair with everything that was made for it, released in one step. */
export class ConnectionPair {
  readonly pair: QueuePair
  readonly #taken: (() => void)[]

  private constructor(pair: QueuePair, taken: (() => void)[]) {
    this.pair = pair
    this.#taken = taken
  }

  /** Make a queue pair. If it throws, nothing is left behind. */
  static make(deviceName: string, portSpace: PortSpace, options: PairOptions): ConnectionPair {
    const taken: (() => void)[] = []
    try {
      return new ConnectionPair(options.pair ?? makePair(deviceName, portSpace, options, taken), taken)
    } catch (error) {
      giveBack(taken)
      throw error
    }
  }

  /** Close what was made. Idempotent. */
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
  const domain = options.domain ?? sharedDomain(deviceName, taken)
  const queue =
    options.sendQueue !== undefined && options.receiveQueue !== undefined ? undefined : ownQueue(domain, options, taken)
  const pair = domain.createQueuePair({
    ...pairOnly(options),
    type: portSpace === 'tcp' ? 'rc' : 'ud',
    sendQueue: options.sendQueue ?? queue!,
    receiveQueue: options.receiveQueue ?? queue!,
  })
  taken.push(() => pair.close())
  return pair
}

/** The options come with those of the connection, which are none of a queue pair. */
function pairOnly(options: PairOptions): Omit<QueuePairOptions, 'type'> {
  const given = options as Readonly<Record<string, unknown>>
  return Object.fromEntries(PAIR_OPTIONS.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])))
}

const PAIR_OPTIONS = [
  'sharedReceiveQueue',
  'xrcDomain',
  'dcAccessKey',
  'maxSendRequests',
  'maxReceiveRequests',
  'maxSendSegments',
  'maxReceiveSegments',
  'maxInlineBytes',
  'signalAll',
] as const satisfies readonly (keyof QueuePairOptions)[]

function sharedDomain(deviceName: string, taken: (() => void)[]): ProtectionDomain {
  const shared = SharedDevice.acquire(deviceName)
  taken.push(() => shared.release())
  return shared.domain
}

/** Holds every completion that can be outstanding, so it cannot overrun. */
function ownQueue(domain: PairDomain, options: PairOptions, taken: (() => void)[]): CompletionQueue {
  const { maxSendRequests = DEFAULT_REQUESTS, maxReceiveRequests = DEFAULT_REQUESTS } = options
  const queue = domain.device.createCompletionQueue({ depth: maxSendRequests + maxReceiveRequests })
  taken.push(() => queue.close())
  return queue
}

/** Check that the objects passed in belong together, and to the device that the connection runs over. */
export function checkPairOptions(options: PairOptions, portSpace: PortSpace): void {
  const { pair, domain, sendQueue, receiveQueue } = options
  checkPairValues(options)
  const type = portSpace === 'tcp' ? 'rc' : 'ud'
  if (pair !== undefined && pair.type !== type)
    throw new ArgumentError(
      'pair',
      `pair must be a queue pair of type ${type} in port space ${portSpace}, not ${pair.type}`,
    )
  if (pair !== undefined && (domain ?? sendQueue ?? receiveQueue) !== undefined)
    throw new ArgumentError('pair', 'a queue pair has its own domain and queues; leave those out, or leave out `pair`')
  if (domain === undefined && (sendQueue ?? receiveQueue) !== undefined)
    throw new ArgumentError('domain', 'completion queues of your own need a domain of the same device; pass `domain`')
}

/** What the queue pair is made from later, when it is too late for an answer that names the argument. */
function checkPairValues(options: PairOptions): void {
  const { pair, domain, sendQueue, receiveQueue, prepare, maxSendRequests, maxReceiveRequests } = options
  if (pair !== undefined) checkInstance('pair', pair, QueuePair, 'as createQueuePair() returns')
  if (domain !== undefined) checkInstance('domain', domain, ProtectionDomain, 'as createProtectionDomain() returns')
  for (const [name, queue] of Object.entries({ sendQueue, receiveQueue }))
    if (queue !== undefined) checkInstance(name, queue, CompletionQueue, 'as createCompletionQueue() returns')
  for (const [name, count] of Object.entries({ maxSendRequests, maxReceiveRequests }))
    if (count !== undefined) checkWhole(name, count, 0, REQUESTS_MAX)
  if (prepare !== undefined) checkFunction('prepare', prepare, 'which takes the queue pair')
}

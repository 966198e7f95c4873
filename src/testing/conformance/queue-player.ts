import type {
  AddressVector,
  GidEntry,
  PortAttributes,
  SharedReceiveQueueAttributes,
  XrcDomainOptions,
} from '../../verbs/index.ts'
import type { Handle, PairFacts, ReceiveSpecification } from './player-data.ts'

export interface SharedQueueSpecification {
  readonly maxRequests: number
  readonly maxSegments?: number
  readonly limit?: number
  readonly xrcDomain?: Handle
  readonly completionQueue?: Handle
}

export interface SharedQueueFacts {
  readonly handle: Handle
  readonly number: number
}

/** An asynchronous event, with the handle of its object. */
export interface EventFacts {
  readonly name: string
  readonly about: Handle | undefined
}

/**
 * The queue part of a player, for everything that is not a plain connection: address handles, shared queues, events.
 */
export interface QueuePlayer {
  addressHandle(domain: Handle, vector: AddressVector): Promise<Handle>
  sharedQueue(domain: Handle, specification: SharedQueueSpecification): Promise<SharedQueueFacts>
  querySharedQueue(queue: Handle): Promise<SharedReceiveQueueAttributes>
  modifySharedQueue(
    queue: Handle,
    attributes: { readonly limit?: number; readonly maxRequests?: number },
  ): Promise<void>
  receiveShared(queue: Handle, request: ReceiveSpecification): Promise<void>
  xrcDomain(options?: XrcDomainOptions): Promise<Handle>
  /** A further handle on an XRC receive queue pair. */
  openPair(domain: Handle, xrcDomain: Handle, number: number): Promise<PairFacts>
  attachMulticast(pair: Handle, group: bigint): Promise<void>
  detachMulticast(pair: Handle, group: bigint): Promise<void>
  resize(queue: Handle, depth: number): Promise<void>
  /** Take the waiting asynchronous events. */
  events(): Promise<EventFacts[]>
  /** Returns true if the descriptor for asynchronous events is readable. */
  eventsReadable(): Promise<boolean>
  progress(): Promise<void>
  port(port: number): Promise<PortAttributes>
  gidTable(port: number): Promise<readonly GidEntry[]>
}

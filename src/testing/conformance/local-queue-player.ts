import { native } from '../../native/index.ts'
import {
  AddressHandle,
  type AddressVector,
  CompletionQueue,
  type GidEntry,
  type PortAttributes,
  ProtectionDomain,
  QueuePair,
  type QueuePairOptions,
  type SendRequestFields,
  SharedReceiveQueue,
  type SharedReceiveQueueAttributes,
  XrcDomain,
  type XrcDomainOptions,
} from '../../verbs/index.ts'
import { LocalMemoryPlayer } from './local-memory-player.ts'
import type { Handle, PairFacts, PairSpecification, ReceiveSpecification, RequestSpecification } from './player-data.ts'
import { attempt } from './player-nouns.ts'
import type { EventFacts, QueuePlayer, SharedQueueFacts, SharedQueueSpecification } from './queue-player.ts'

/** The queue part of a player in this process. */
export class LocalQueuePlayer extends LocalMemoryPlayer implements QueuePlayer {
  addressHandle(domain: Handle, vector: AddressVector): Promise<Handle> {
    return attempt(() => this.keep(this.get(domain, ProtectionDomain).createAddressHandle(vector)))
  }

  sharedQueue(domain: Handle, specification: SharedQueueSpecification): Promise<SharedQueueFacts> {
    return attempt(() => {
      const { xrcDomain, completionQueue, ...rest } = specification
      const queue = this.get(domain, ProtectionDomain).createSharedReceiveQueue({
        ...rest,
        ...(xrcDomain === undefined ? {} : { xrcDomain: this.get(xrcDomain, XrcDomain) }),
        ...(completionQueue === undefined ? {} : { completionQueue: this.get(completionQueue, CompletionQueue) }),
      })
      return { handle: this.keep(queue), number: queue.number }
    })
  }

  querySharedQueue(queue: Handle): Promise<SharedReceiveQueueAttributes> {
    return attempt(() => this.get(queue, SharedReceiveQueue).query())
  }

  modifySharedQueue(
    queue: Handle,
    attributes: { readonly limit?: number; readonly maxRequests?: number },
  ): Promise<void> {
    return attempt(() => this.get(queue, SharedReceiveQueue).modify(attributes))
  }

  receiveShared(queue: Handle, request: ReceiveSpecification): Promise<void> {
    return attempt(() => this.get(queue, SharedReceiveQueue).prepareReceive({ local: request.local }).post(request.id))
  }

  xrcDomain(options: XrcDomainOptions = {}): Promise<Handle> {
    return attempt(() => this.keep(this.device.openXrcDomain(options)))
  }

  openPair(domain: Handle, xrcDomain: Handle, number: number): Promise<PairFacts> {
    return attempt(() =>
      this.keepPair(this.get(domain, ProtectionDomain).openQueuePair(this.get(xrcDomain, XrcDomain), number)),
    )
  }

  attachMulticast(pair: Handle, group: bigint): Promise<void> {
    return attempt(() => this.get(pair, QueuePair).attachMulticast(group))
  }

  detachMulticast(pair: Handle, group: bigint): Promise<void> {
    return attempt(() => this.get(pair, QueuePair).detachMulticast(group))
  }

  resize(queue: Handle, depth: number): Promise<void> {
    return attempt(() => this.get(queue, CompletionQueue).resize(depth))
  }

  events(): Promise<EventFacts[]> {
    return attempt(() =>
      this.device.drainEvents().map(({ name, queuePair, completionQueue, sharedReceiveQueue }) => {
        const about = queuePair ?? completionQueue ?? sharedReceiveQueue
        return { name, about: about === undefined ? undefined : this.handleOf(about) }
      }),
    )
  }

  eventsReadable(): Promise<boolean> {
    return attempt(() => native.poll(Int32Array.of(this.device.asyncDescriptor), new Int32Array(1), 1, 0) > 0)
  }

  progress(): Promise<void> {
    return attempt(() => this.device.progress())
  }

  port(port: number): Promise<PortAttributes> {
    return attempt(() => this.device.queryPort(port))
  }

  gidTable(port: number): Promise<readonly GidEntry[]> {
    return attempt(() => this.device.gids(port))
  }

  protected keepPair(pair: QueuePair): PairFacts {
    const { number, endpoint, capacities, type } = pair
    return { handle: this.keep(pair), number, endpoint, capacities, type }
  }

  protected pairOptions(specification: PairSpecification): QueuePairOptions {
    const { domain, sendQueue, receiveQueue, sharedReceiveQueue, xrcDomain, type = 'rc', ...rest } = specification
    const sends = type !== 'xrc-receive' && type !== 'dct'
    const receives = type === 'rc' || type === 'uc' || type === 'ud' || type === 'dct'
    return {
      ...rest,
      type,
      ...(sends ? { sendQueue: this.get(sendQueue, CompletionQueue) } : {}),
      ...(receives ? { receiveQueue: this.get(receiveQueue, CompletionQueue) } : {}),
      ...(sharedReceiveQueue === undefined
        ? {}
        : { sharedReceiveQueue: this.get(sharedReceiveQueue, SharedReceiveQueue) }),
      ...(xrcDomain === undefined ? {} : { xrcDomain: this.get(xrcDomain, XrcDomain) }),
    }
  }

  /** The destination of a request, for types that are not connected to one receiver. */
  protected destinationOf(request: RequestSpecification): Pick<SendRequestFields, 'to'> {
    if (request.to === undefined) return {}
    const { addressHandle, ...rest } = request.to
    return addressHandle === undefined
      ? { to: rest }
      : { to: { ...rest, addressHandle: this.get(addressHandle, AddressHandle) } }
  }
}

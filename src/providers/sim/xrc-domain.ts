import { Errno, VerbsError } from '../errors.ts'
import type { ProviderQueuePair } from '../queue-pair-contract.ts'
import type { ProviderXrcDomain, XrcDomainOptions } from '../xrc-domain.ts'
import type { SimCompletionQueue } from './completion-queue.ts'
import type { SimContext } from './context.ts'
import type { ReceiveSource } from './receive-queue.ts'

/** A shared receive queue that is in an XRC domain. */
interface XrcQueue extends ReceiveSource {
  readonly number: number
  readonly device: SimContext
  readonly domain: { readonly id: number }
  /** Where its receives complete. */
  readonly completionQueue: SimCompletionQueue | undefined
}

/** A device with its XRC domains. */
interface XrcDevice {
  readonly cluster: { readonly xrcDomains: Map<string, XrcMembers> }
  readonly xrcDomains: Set<SimXrcDomain>
}

/** What is in an XRC domain, which processes share by a path. */
export class XrcMembers {
  readonly domains: Set<SimXrcDomain> = new Set<SimXrcDomain>()
  readonly queues: Map<number, XrcQueue> = new Map<number, XrcQueue>()
  readonly pairs: Map<number, ProviderQueuePair> = new Map<number, ProviderQueuePair>()
}

/** An XRC domain. A path only names it; no file is opened. */
export class SimXrcDomain implements ProviderXrcDomain {
  readonly members: XrcMembers
  readonly #device: XrcDevice
  readonly #path: string | undefined
  readonly #users = new Set<object>()

  constructor(device: XrcDevice, options: XrcDomainOptions) {
    const { path, create = true, exclusive = false } = options
    const known = path === undefined ? undefined : device.cluster.xrcDomains.get(path)
    if (known !== undefined && exclusive)
      throw new VerbsError('ibv_open_xrcd', Errno.EEXIST, `${path} has a domain already`)
    if (known === undefined && !create) throw new VerbsError('ibv_open_xrcd', Errno.ENOENT, `${path} has no domain yet`)
    this.#device = device
    this.#path = path
    this.members = known ?? new XrcMembers()
    this.members.domains.add(this)
    if (path !== undefined) device.cluster.xrcDomains.set(path, this.members)
  }

  addQueue(queue: XrcQueue): void {
    this.members.queues.set(queue.number, queue)
    this.#users.add(queue)
  }

  removeQueue(queue: XrcQueue): void {
    this.members.queues.delete(queue.number)
    this.#users.delete(queue)
  }

  addPair(pair: ProviderQueuePair): void {
    this.members.pairs.set(pair.number, pair)
    this.#users.add(pair)
  }

  removePair(pair: ProviderQueuePair): void {
    this.members.pairs.delete(pair.number)
    this.#users.delete(pair)
  }

  destroy(): void {
    if (this.#users.size > 0) {
      const what = `${this.#users.size} queue pairs and shared receive queues are still in it`
      throw new VerbsError('ibv_close_xrcd', Errno.EBUSY, what)
    }
    this.members.domains.delete(this)
    this.#device.xrcDomains.delete(this)
    if (this.#path !== undefined && this.members.domains.size === 0) this.#device.cluster.xrcDomains.delete(this.#path)
  }
}

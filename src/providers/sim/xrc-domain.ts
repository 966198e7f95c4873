import { Errno, VerbsError } from '../errors.ts'
import type { ProviderXrcDomain, XrcDomainOptions } from '../xrc-domain.ts'
import type { SimDevice } from './device.ts'
import type { SimQueuePair } from './queue-pair.ts'
import type { SimSharedReceiveQueue } from './shared-receive-queue.ts'

/** What is in an XRC domain, which processes share by a path. */
export class XrcMembers {
  readonly domains: Set<SimXrcDomain> = new Set<SimXrcDomain>()
  readonly queues: Map<number, SimSharedReceiveQueue> = new Map<number, SimSharedReceiveQueue>()
  readonly pairs: Map<number, SimQueuePair> = new Map<number, SimQueuePair>()
}

/** An XRC domain. A path only names it; no file is opened. */
export class SimXrcDomain implements ProviderXrcDomain {
  readonly members: XrcMembers
  readonly #device: SimDevice
  readonly #path: string | undefined
  readonly #users = new Set<object>()

  constructor(device: SimDevice, options: XrcDomainOptions) {
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

  addQueue(queue: SimSharedReceiveQueue): void {
    this.members.queues.set(queue.number, queue)
    this.#users.add(queue)
  }

  removeQueue(queue: SimSharedReceiveQueue): void {
    this.members.queues.delete(queue.number)
    this.#users.delete(queue)
  }

  addPair(pair: SimQueuePair): void {
    this.members.pairs.set(pair.number, pair)
    this.#users.add(pair)
  }

  removePair(pair: SimQueuePair): void {
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

import { Errno, VerbsError } from '../errors.ts'
import { type Gid, isMulticast } from '../gid.ts'
import type { SimContext } from './context.ts'
import { MAX_MULTICAST_GROUPS } from './device-attributes.ts'

/** The multicast groups that one queue pair is attached to. */
export class Memberships {
  readonly #device: SimContext
  readonly #number: number
  readonly #groups = new Set<Gid>()

  constructor(device: SimContext, number: number) {
    this.#device = device
    this.#number = number
  }

  get size(): number {
    return this.#groups.size
  }

  /** Attaching again changes nothing. */
  attach(group: Gid): void {
    if (!isMulticast(group))
      throw new VerbsError('ibv_attach_mcast', Errno.EINVAL, 'a multicast gid begins with the byte ff')
    if (this.#groups.size >= MAX_MULTICAST_GROUPS)
      throw new VerbsError('ibv_attach_mcast', Errno.ENOMEM, `attached to ${MAX_MULTICAST_GROUPS} groups already`)
    if (this.#groups.has(group)) return
    this.#groups.add(group)
    this.#device.cluster.join(group, { gid: this.#device.gid, number: this.#number })
  }

  detach(group: Gid): void {
    if (!this.#groups.delete(group))
      throw new VerbsError('ibv_detach_mcast', Errno.EINVAL, `queue pair ${this.#number} is not attached to that group`)
    this.#device.cluster.leave(group, { gid: this.#device.gid, number: this.#number })
  }
}

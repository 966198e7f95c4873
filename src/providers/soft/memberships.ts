import { Errno, VerbsError } from '../errors.ts'
import { type Gid, isMulticast } from '../gid.ts'
import type { QueuePairType } from '../queue-pair-state.ts'
import { MAX_MULTICAST_GROUPS } from './limits.ts'

/** A queue pair that receives what is sent to a group. */
export interface Member {
  readonly gid: Gid
  readonly number: number
}

/** The multicast groups of a medium. */
interface MulticastGroups {
  join(group: Gid, member: Member): void
  leave(group: Gid, member: Member): void
}

/** The multicast groups that one queue pair is attached to. */
export class Memberships {
  readonly #medium: MulticastGroups
  readonly #type: QueuePairType
  readonly #member: Member
  readonly #groups = new Set<Gid>()

  constructor(medium: MulticastGroups, type: QueuePairType, member: Member) {
    this.#medium = medium
    this.#type = type
    this.#member = member
  }

  /** Attaching again changes nothing. */
  attach(group: Gid): void {
    this.#requireDatagrams('ibv_attach_mcast')
    if (!isMulticast(group))
      throw new VerbsError('ibv_attach_mcast', Errno.EINVAL, 'a multicast gid begins with the byte ff')
    if (this.#groups.size >= MAX_MULTICAST_GROUPS)
      throw new VerbsError('ibv_attach_mcast', Errno.ENOMEM, `attached to ${MAX_MULTICAST_GROUPS} groups already`)
    if (this.#groups.has(group)) return
    this.#medium.join(group, this.#member)
    this.#groups.add(group)
  }

  detach(group: Gid): void {
    this.#requireDatagrams('ibv_detach_mcast')
    const { number } = this.#member
    if (!this.#groups.delete(group))
      throw new VerbsError('ibv_detach_mcast', Errno.EINVAL, `queue pair ${number} is not attached to that group`)
    this.#medium.leave(group, this.#member)
  }

  /** EBUSY while attached. */
  refuseDestroy(): void {
    if (this.#groups.size === 0) return
    const what = `attached to ${this.#groups.size} multicast groups; detach it first`
    throw new VerbsError('ibv_destroy_qp', Errno.EBUSY, what)
  }

  #requireDatagrams(verb: string): void {
    if (this.#type !== 'ud')
      throw new VerbsError(verb, Errno.EINVAL, `queue pairs of type ${this.#type} take no datagrams; use 'ud'`)
  }
}

import { Errno, VerbsError } from '../errors.ts'
import { type Gid, isMulticast } from '../gid.ts'
import { MAX_MULTICAST_GROUPS } from './device-attributes.ts'
import { NoteFolder } from './note-folder.ts'

/** A queue pair that receives what is sent to a group. */
export interface Member {
  readonly gid: Gid
  readonly number: number
}

const groups = new Map<Gid, NoteFolder>()

function groupOf(group: Gid): NoteFolder {
  const known = groups.get(group) ?? new NoteFolder(`multicast-${group.toString(16)}`)
  groups.set(group, known)
  return known
}

/** The queue pairs attached to a group now, in all processes of this user. */
export function multicastMembers(group: Gid): Member[] {
  const registry = groupOf(group)
  return registry.names().flatMap((name) => {
    const gid = registry.get(name)
    return gid === undefined ? [] : [{ gid, number: Number.parseInt(name.split('-')[1] ?? '', 16) }]
  })
}

/** The groups that one queue pair is attached to. */
export class MulticastMemberships {
  readonly #gid: Gid
  readonly #number: number
  readonly #groups = new Set<Gid>()

  constructor(gid: Gid, number: number) {
    this.#gid = gid
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
    groupOf(group).put(this.#note, this.#gid)
    this.#groups.add(group)
  }

  detach(group: Gid): void {
    if (!this.#groups.delete(group))
      throw new VerbsError('ibv_detach_mcast', Errno.EINVAL, `queue pair ${this.#number} is not attached to that group`)
    groupOf(group).remove(this.#note)
  }

  /** Unique, because the gid is the device's own. */
  get #note(): string {
    return `${this.#gid.toString(16)}-${this.#number.toString(16)}`
  }
}

import type { Gid } from '../gid.ts'
import type { Member } from '../soft/memberships.ts'
import { NoteFolder } from './note-folder.ts'

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

/** The device's gid makes the note unique. */
function noteOf({ gid, number }: Member): string {
  return `${gid.toString(16)}-${number.toString(16)}`
}

export function joinGroup(group: Gid, member: Member): void {
  groupOf(group).put(noteOf(member), member.gid)
}

export function leaveGroup(group: Gid, member: Member): void {
  groupOf(group).remove(noteOf(member))
}

import type { Arena } from './arena.ts'
import type { EpochArchive } from './epoch-archive.ts'
import type { LockFile } from './lock-file.ts'
import type { MemberRecord, MemberTable } from './member-table.ts'
import type { Presence } from './presence.ts'
import type { SpaceLock } from './space-lock.ts'

/** Everything that one member holds of a space, as `enter` returns it. */
export interface Entry {
  readonly name: string
  readonly file: LockFile
  readonly lock: SpaceLock
  readonly arena: Arena
  readonly table: MemberTable
  readonly archive: EpochArchive
  readonly presence: Presence
  readonly self: MemberRecord
}

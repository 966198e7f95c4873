import type { Arena } from './arena.ts'
import type { Doorbell } from './doorbell.ts'
import type { EpochArchive } from './epoch-archive.ts'
import type { MemberRecord, MemberTable } from './member-table.ts'
import type { RendezvousFile } from './rendezvous-file.ts'
import type { SpaceLock } from './space-lock.ts'

/** Everything that one member holds of a space, as `enter` returns it. */
export interface Entry {
  readonly name: string
  readonly file: RendezvousFile
  readonly lock: SpaceLock
  readonly arena: Arena
  readonly table: MemberTable
  readonly archive: EpochArchive
  readonly bell: Doorbell
  readonly self: MemberRecord
}

import { RecordType } from '../state/record-format.ts'
import type { SnapshotReader } from '../state/snapshot-stream.ts'
import { MemberSet } from './member-set.ts'

/** The members of a set. */
export class SetValue extends MemberSet {
  readonly type: typeof RecordType.Set = RecordType.Set

  static decode(reader: SnapshotReader): SetValue {
    const set = new SetValue()
    set.decodeMembers(reader)
    return set
  }
}

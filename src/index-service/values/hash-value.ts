import { RecordType } from '../state/record-format.ts'
import type { SnapshotReader } from '../state/snapshot-stream.ts'
import { MemberSet } from './member-set.ts'

/** The names of the fields of a hash. Their values are records. */
export class HashValue extends MemberSet {
  readonly type: typeof RecordType.Hash = RecordType.Hash

  static decode(reader: SnapshotReader): HashValue {
    const hash = new HashValue()
    hash.decodeMembers(reader)
    return hash
  }
}

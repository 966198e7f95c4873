import { RecordType } from '../state/record-format.ts'
import type { SnapshotReader } from '../state/snapshot-stream.ts'
import { MemberSet } from './member-set.ts'

/** The names of the fields of a hash. Their values are records. */
export class HashValue extends MemberSet {
  readonly type: typeof RecordType.Hash = RecordType.Hash
  /** Names have come or gone since the record of the hash was written. */
  hasNewNames = true

  override add(member: string): boolean {
    const isNew = super.add(member)
    this.hasNewNames ||= isNew
    return isNew
  }

  override delete(member: string): boolean {
    const wasThere = super.delete(member)
    this.hasNewNames ||= wasThere
    return wasThere
  }

  static decode(reader: SnapshotReader): HashValue {
    const hash = new HashValue()
    hash.decodeMembers(reader)
    return hash
  }
}

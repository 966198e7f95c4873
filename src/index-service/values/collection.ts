import { RecordType } from '../state/record-format.ts'
import type { SnapshotReader, SnapshotWriter } from '../state/snapshot-stream.ts'
import { HashValue } from './hash-value.ts'
import { ListValue } from './list-value.ts'
import { SetValue } from './set-value.ts'
import { SortedSetValue } from './sorted-set-value.ts'
import { StreamValue } from './stream-value.ts'

/** The value of a key that is not a string. */
export interface Collection {
  readonly type: number
  readonly size: number
  readonly usedBytes: number
  encode(writer: SnapshotWriter): void
  /**
   * The same in parts, while it changes: its first step notes what it holds now, and each other one writes an element.
   * That of a hash or a set gives the member that it wrote. It is to be ended, and there is one at a time.
   */
  encodeParts(writer: SnapshotWriter): Generator<string | undefined>
}

/** What was written by `encode` of a value of this type. @throws RangeError */
export function decodeCollection(type: number, reader: SnapshotReader): Collection {
  switch (type) {
    case RecordType.Hash:
      return HashValue.decode(reader)
    case RecordType.List:
      return ListValue.decode(reader)
    case RecordType.Set:
      return SetValue.decode(reader)
    case RecordType.SortedSet:
      return SortedSetValue.decode(reader)
    case RecordType.Stream:
      return StreamValue.decode(reader)
    default:
      throw new RangeError(`a snapshot has a value of type ${type}`)
  }
}

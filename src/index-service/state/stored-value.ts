import { type Collection, decodeCollection } from '../values/collection.ts'
import { HashValue } from '../values/hash-value.ts'
import { RecordType } from './record-format.ts'
import { SnapshotReader, SnapshotWriter } from './snapshot-stream.ts'

/** A collection by itself. `fields`: the values of a hash, in the order of its members. */
interface StoredCollection {
  readonly collection: Collection
  readonly fields: readonly Uint8Array[]
}

/** What a key holds, apart from the key: the bytes of a string, or a collection. */
export type StoredValue = Uint8Array | StoredCollection

/** @throws RangeError if it is not what was written. */
export function readValue(reader: SnapshotReader): StoredValue {
  const type = reader.u8()
  if (type === RecordType.String) return reader.bytes()
  const collection = decodeCollection(type, reader)
  return { collection, fields: collection instanceof HashValue ? collection.members.map(() => reader.bytes()) : [] }
}

export function writeValue(writer: SnapshotWriter, value: StoredValue): void {
  if (value instanceof Uint8Array) {
    writer.u8(RecordType.String)
    writer.bytes(value)
    return
  }
  writer.u8(value.collection.type)
  value.collection.encode(writer)
  for (const field of value.fields) writer.bytes(field)
}

export function copyOfValue(value: StoredValue): StoredValue {
  const writer = new SnapshotWriter()
  writeValue(writer, value)
  return readValue(new SnapshotReader(writer.takeAll()))
}

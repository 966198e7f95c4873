import { Buffer } from 'node:buffer'
import { hashBytes } from '../../codecs/index.ts'
import { RecordType } from './record-format.ts'
import { SnapshotReader, SnapshotWriter } from './snapshot-stream.ts'
import { readValue, type StoredValue, writeValue } from './stored-value.ts'

/**
 * What DUMP answers and RESTORE takes. It is not Redis' format, and Redis refuses it. Numbers are little-endian.
 *
 * ```
 *  0 a value, as snapshots have it   …   1 version   4 hash of all before   4 the same with another seed
 * ```
 */
const VERSION = 1
const FOOTER_BYTES = 9
const SEEDS: readonly number[] = [0x41455849, 0x64756d70]

/** A value that can be restored, or what is wrong with the bytes. */
export type Undumped = StoredValue | 'checksum' | 'format'

export function packDump(value: StoredValue): Uint8Array {
  const body = bytesOfValue(value)
  const dump = Buffer.alloc(body.length + FOOTER_BYTES)
  dump.set(body)
  dump[body.length] = VERSION
  for (const [number, seed] of SEEDS.entries())
    dump.writeUInt32LE(hashBytes(dump, body.length + 1, seed), body.length + 1 + number * 4)
  return dump
}

export function unpackDump(bytes: Uint8Array): Undumped {
  const length = bytes.length - FOOTER_BYTES
  if (length < 1 || bytes[length] !== VERSION) return 'checksum'
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (const [number, seed] of SEEDS.entries())
    if (view.getUint32(length + 1 + number * 4, true) !== hashBytes(bytes, length + 1, seed)) return 'checksum'
  return readWhole(bytes.subarray(0, length)) ?? 'format'
}

/** Undefined unless it is what would be written, to the byte: a sound hash can be given to anything. */
function readWhole(body: Uint8Array): StoredValue | undefined {
  let value: StoredValue
  try {
    value = readValue(new SnapshotReader([body]))
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
  if (!(value instanceof Uint8Array) && value.collection.size === 0 && value.collection.type !== RecordType.Stream)
    return undefined
  return Buffer.compare(bytesOfValue(value), body) === 0 ? value : undefined
}

function bytesOfValue(value: StoredValue): Uint8Array {
  const writer = new SnapshotWriter()
  writeValue(writer, value)
  return Buffer.concat(writer.takeAll())
}

/**
 * What lies in the records of a shard. Processes that read them from outside decode them with this file, too, so it
 * imports nothing. Numbers are little-endian.
 *
 * ```
 *  key of a record    0 kind: 1 + 4 * space   1 key
 *                     0 kind: 2 + 4 * space   1 length of the key (varint)   key   field       a field of a hash
 *  value of a key     0 type   1 version (Float64)   9 expires at, in ms (Float64; 0: never)   17 what it holds
 *  value of a field   bytes
 * ```
 *
 * What a key holds is here if it is a string, its bytes. If it is a hash, the names of its fields are, each behind its
 * length (varint), unless there are many: see {@link packNames}. So who reads from outside finds all of them.
 *
 * A space has the keys of one database. They have the same number until databases are swapped.
 */
export const RecordType = { String: 1, Hash: 2, List: 3, Set: 4, SortedSet: 5, Stream: 6 } as const

const KEY_KIND = 1
const FIELD_KIND = 2
const KIND_MASK = 3
const SPACE_SHIFT = 2
/** Before the bytes of a string. */
export const HEAD_BYTES = 17

/** Longer views are made each time. */
const VIEWS_MAX = 256

const number = new Float64Array(1)
const numberBytes = new Uint8Array(number.buffer)

/** The first bytes of some memory, as views that are used again: to make one takes longer than to fill a short one. */
class Views {
  readonly #bytes: Uint8Array
  readonly #views: Uint8Array[] = []

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  first(lengthBytes: number): Uint8Array {
    if (lengthBytes > VIEWS_MAX) return this.#bytes.subarray(0, lengthBytes)
    this.#views[lengthBytes] ??= this.#bytes.subarray(0, lengthBytes)
    return this.#views[lengthBytes]!
  }
}

/** Makes keys of records in memory of its own: a key is valid until the next one is made. */
export class RecordKeys {
  #bytes = new Uint8Array(256)
  #views = new Views(this.#bytes)

  ofKey(key: Uint8Array, space: number): Uint8Array {
    const bytes = this.#room(key.length + 1)
    bytes[0] = KEY_KIND | (space << SPACE_SHIFT)
    copy(bytes, 1, key)
    return this.#views.first(key.length + 1)
  }

  ofField(key: Uint8Array, field: Uint8Array, space: number): Uint8Array {
    const bytes = this.#room(key.length + field.length + 6)
    bytes[0] = FIELD_KIND | (space << SPACE_SHIFT)
    const at = putLength(bytes, 1, key.length)
    copy(bytes, at, key)
    copy(bytes, at + key.length, field)
    return this.#views.first(at + key.length + field.length)
  }

  #room(lengthBytes: number): Uint8Array {
    if (lengthBytes > this.#bytes.length) {
      this.#bytes = new Uint8Array(lengthBytes * 2)
      this.#views = new Views(this.#bytes)
    }
    return this.#bytes
  }
}

/** Returns where it ends. */
function putLength(bytes: Uint8Array, begin: number, length: number): number {
  let at = begin
  let left = length
  for (; left >= 0x80; left >>>= 7) bytes[at++] = (left & 0x7f) | 0x80
  bytes[at++] = left
  return at
}

/** Names of fields that are written with their hash. With more of them, a node is asked sooner than memory is read. */
const NAMES_MAX = 32
const NAMES_BYTES_MAX = 512
const names = new Uint8Array(NAMES_BYTES_MAX)

/** The names of the fields of a hash, as its record has them: valid until the next ones. Undefined if too long. */
export function packNames(fields: readonly string[]): Uint8Array | undefined {
  if (fields.length > NAMES_MAX) return undefined
  let at = 0
  for (const field of fields) {
    const { length } = field
    if (at + length + 2 > NAMES_BYTES_MAX) return undefined
    at = putLength(names, at, length)
    for (let index = 0; index < length; index += 1) names[at + index] = field.charCodeAt(index)
    at += length
  }
  return names.subarray(0, at)
}

/** The names in the record of a hash: views. None if they are not there: no hash is without fields. */
export function namesIn(record: Uint8Array): Uint8Array[] {
  const fields: Uint8Array[] = []
  for (let at = HEAD_BYTES; at < record.length; ) {
    let length = record[at++]!
    if (length >= 0x80) length = (length & 0x7f) | (record[at++]! << 7)
    fields.push(record.subarray(at, at + length))
    at += length
  }
  return fields
}

/** Short keys are copied faster without a call. */
function copy(target: Uint8Array, at: number, source: Uint8Array): void {
  if (source.length > 32) target.set(source, at)
  else for (let index = 0; index < source.length; index += 1) target[at + index] = source[index]!
}

/** The space of a record, if it is that of a key; undefined if it is that of a field. */
export function spaceOfRecord(recordKey: Uint8Array): number | undefined {
  const kind = recordKey[0]!
  return isOfKey(kind) ? kind >> SPACE_SHIFT : undefined
}

/** Whether a record whose key begins with this byte is that of a key. */
export function isOfKey(firstByte: number): boolean {
  return (firstByte & KIND_MASK) === KEY_KIND
}

/** The space of any record, and the key that it is of: that of a field, too. */
export function ownerOfRecord(recordKey: Uint8Array): { readonly space: number; readonly key: Uint8Array } {
  const space = recordKey[0]! >> SPACE_SHIFT
  if (isOfKey(recordKey[0]!)) return { space, key: keyOfRecord(recordKey) }
  let at = 1
  let length = 0
  for (let shift = 0; ; shift += 7) {
    const byte = recordKey[at++]!
    length |= (byte & 0x7f) << shift
    if (byte < 0x80) return { space, key: recordKey.subarray(at, at + length) }
  }
}

/** The key of a record of a key. */
export function keyOfRecord(recordKey: Uint8Array): Uint8Array {
  return recordKey.subarray(1)
}

/** What the head of a key's record says besides the type. */
export interface RecordHead {
  readonly version: number
  /** 0: it does not expire. */
  readonly expireAtMs: number
}

/** Makes values of records of keys in memory of its own: one is valid until the next one is made. */
export class RecordValues {
  #bytes = new Uint8Array(4096)
  #views = new Views(this.#bytes)
  /** What is at the start of the memory. Calls that go together write the same, so it is packed once for all. */
  #type = 0
  #version = 0
  #expireAtMs = 0

  /** `bytes`: of a string. */
  of(type: number, head: RecordHead, bytes?: Uint8Array): Uint8Array {
    const lengthBytes = HEAD_BYTES + (bytes?.length ?? 0)
    // Not the memory of a large value for ever.
    if (lengthBytes > this.#bytes.length) return ofLarge(type, head, bytes!)
    this.#pack(type, head)
    if (bytes !== undefined) copy(this.#bytes, HEAD_BYTES, bytes)
    return this.#views.first(lengthBytes)
  }

  #pack(type: number, head: RecordHead): void {
    const { version, expireAtMs } = head
    if (this.#type === type && this.#version === version && this.#expireAtMs === expireAtMs) return
    packHead(this.#bytes, type, head)
    this.#type = type
    this.#version = version
    this.#expireAtMs = expireAtMs
  }
}

function ofLarge(type: number, head: RecordHead, bytes: Uint8Array): Uint8Array {
  const whole = new Uint8Array(HEAD_BYTES + bytes.length)
  packHead(whole, type, head)
  whole.set(bytes, HEAD_BYTES)
  return whole
}

/** Write the head of a value to the start of `target`. */
export function packHead(target: Uint8Array, type: number, { version, expireAtMs }: RecordHead): void {
  target[0] = type
  number[0] = version
  for (let index = 0; index < 8; index += 1) target[1 + index] = numberBytes[index]!
  number[0] = expireAtMs
  for (let index = 0; index < 8; index += 1) target[9 + index] = numberBytes[index]!
}

export function typeOf(record: Uint8Array): number {
  return record[0]!
}

export function versionOf(record: Uint8Array): number {
  return numberAt(record, 1)
}

export function expireAtOf(record: Uint8Array): number {
  // The sign and the exponent of any time are not zero.
  return record[16] === 0 && record[15] === 0 ? 0 : numberAt(record, 9)
}

/** What lies behind the head, such as the bytes of a string: a view. */
export function stringOf(record: Uint8Array): Uint8Array {
  return record.subarray(HEAD_BYTES)
}

function numberAt(record: Uint8Array, at: number): number {
  for (let index = 0; index < 8; index += 1) numberBytes[index] = record[at + index]!
  return number[0]!
}

import { recordTakes } from '../memory/layout.ts'
import type { Records } from '../memory/records.ts'
import type { Collection } from '../values/collection.ts'
import { HashValue } from '../values/hash-value.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import type { StreamValue } from '../values/stream-value.ts'
import { Watching } from './change-watch.ts'
import { Collections } from './collections.ts'
import { Expiries } from './expiries.ts'
import { KeyOrder } from './key-order.ts'
import * as format from './record-format.ts'
import { expireAtOf, type RecordHead, RecordKeys, RecordType, RecordValues } from './record-format.ts'
import type { SnapshotReader, SnapshotWriter } from './snapshot-stream.ts'
import { readValue, type StoredValue, writeValue } from './stored-value.ts'

/** A collection with more elements, or that takes more bytes, is written in parts. */
const ELEMENTS_MAX = 64
const COLLECTION_BYTES_MAX = 65_536

/**
 * Keys of a space, each with what belongs to it: records, its collection, its expiry, its place in the order. They do
 * not know what time it is: a key that has expired is like any other.
 */
export class Entries {
  readonly #records: Records
  readonly #space: number
  readonly #keys = new RecordKeys()
  readonly #values = new RecordValues()
  readonly #collections = new Collections()
  readonly #expiries = new Expiries()
  readonly #order = new KeyOrder()
  readonly #watching: Watching
  #size = 0

  constructor(records: Records, space: number, watching: Watching = new Watching()) {
    this.#records = records
    this.#space = space
    this.#watching = watching
  }

  get size(): number {
    return this.#size
  }

  get expiries(): Expiries {
    return this.#expiries
  }

  get collections(): Collections {
    return this.#collections
  }

  get order(): KeyOrder {
    return this.#order
  }

  /** What all of them take besides records. */
  get objectsBytes(): number {
    return this.#collections.usedBytes + this.#expiries.usedBytes + this.#order.usedBytes
  }

  /** The record of a key: a view, valid until the next change. */
  get(key: Uint8Array): Uint8Array | undefined {
    return this.#records.get(this.#keys.ofKey(key, this.#space))
  }

  /** Make a key a string. `old` is its record, `bytes` are no view of one. */
  setString(key: Uint8Array, old: Uint8Array | undefined, head: RecordHead, bytes: Uint8Array): void {
    if (old !== undefined) this.#watching.by?.changing(this.#space, key, old)
    this.#moveExpiry(key, old === undefined ? 0 : expireAtOf(old), head.expireAtMs)
    if (old === undefined) this.#enter(key)
    else if (format.typeOf(old) !== RecordType.String) this.#dropCollection(key)
    this.#write(key, RecordType.String, head, bytes)
  }

  /** Of a key that is new. */
  addCollection(key: Uint8Array, head: RecordHead, value: Collection): void {
    this.#enter(key)
    this.#collections.add(latin1Of(key), value)
    this.#moveExpiry(key, 0, head.expireAtMs)
    this.#write(key, value.type, head, namesOf(value))
  }

  /** The collection of a key has changed. `name`: the key as latin1. */
  touch(key: Uint8Array, name: string, value: Collection, version: number): void {
    const isHash = value instanceof HashValue
    const isSame = !isHash || !value.hasNewNames
    // Of several changes by one command, the first has written it so.
    if (!this.#collections.changed(name, version) && isSame) return
    const old = this.get(key)!
    const names = isHash && isSame ? format.stringOf(old) : namesOf(value)
    this.#write(key, value.type, { version, expireAtMs: expireAtOf(old) }, names)
  }

  /** The collection of a key may be changed from here on. */
  open(key: Uint8Array, record: Uint8Array): void {
    this.#watching.by?.opening(this.#space, key, record)
  }

  setExpiry(key: Uint8Array, old: Uint8Array, head: RecordHead): void {
    this.#watching.by?.changing(this.#space, key, old)
    this.#moveExpiry(key, expireAtOf(old), head.expireAtMs)
    this.#write(key, format.typeOf(old), head, format.stringOf(old))
  }

  remove(key: Uint8Array, old: Uint8Array): void {
    this.#watching.by?.changing(this.#space, key, old)
    const isString = format.typeOf(old) === RecordType.String
    this.#moveExpiry(key, expireAtOf(old), 0)
    if (!isString) this.#dropCollection(key)
    if (KeyOrder.holds(key)) this.#order.remove(latin1Of(key))
    this.#records.delete(this.#keys.ofKey(key, this.#space))
    this.#size -= 1
  }

  /** Forget all of them: their records are gone. */
  clear(): void {
    this.#collections.clear()
    this.#expiries.clear()
    this.#order.clear()
    this.#size = 0
  }

  /** The value of a field: a view, valid until the next change. */
  field(key: Uint8Array, field: Uint8Array): Uint8Array | undefined {
    return this.#records.get(this.#keys.ofField(key, field, this.#space))
  }

  setField(key: Uint8Array, field: Uint8Array, value: Uint8Array): void {
    this.#watching.by?.changingField(this.#space, key, field)
    this.#records.set(this.#keys.ofField(key, field, this.#space), value)
  }

  deleteField(key: Uint8Array, field: Uint8Array): boolean {
    this.#watching.by?.changingField(this.#space, key, field)
    return this.#records.delete(this.#keys.ofField(key, field, this.#space))
  }

  idleMs(key: Uint8Array, nowMs: number): number | undefined {
    return this.#records.idleMs(this.#keys.ofKey(key, this.#space), nowMs)
  }

  frequency(key: Uint8Array, nowMs: number): number | undefined {
    return this.#records.frequency(this.#keys.ofKey(key, this.#space), nowMs)
  }

  /** What a key takes in memory. */
  usedBytesOf(key: Uint8Array): number {
    const record = this.get(key)!
    let bytes = recordTakes(key.length + 1, record.length) + this.besideBytesOf(key, record)
    if (format.typeOf(record) !== RecordType.Hash) return bytes
    const value = this.#collections.get(latin1Of(key))
    if (value instanceof HashValue)
      for (const name of value.members) {
        const field = bytesOf(name)
        bytes += recordTakes(this.#keys.ofField(key, field, this.#space).length, this.field(key, field)!.length)
      }
    return bytes
  }

  /** What a key takes beside its record, and those of its fields. */
  besideBytesOf(key: Uint8Array, record: Uint8Array): number {
    const ofExpiry = expireAtOf(record) === 0 ? 0 : Expiries.bytesOf(key)
    const ofOrder = KeyOrder.holds(key) ? KeyOrder.bytesOf(key) : 0
    const isString = format.typeOf(record) === RecordType.String
    return ofExpiry + ofOrder + (isString ? 0 : this.#collections.usedBytesOf(latin1Of(key)))
  }

  /** Write a key, and all that is known of it. */
  encode(writer: SnapshotWriter, key: Uint8Array): void {
    const record = this.get(key)!
    writer.bytes(key)
    writer.f64(format.versionOf(record))
    writer.f64(expireAtOf(record))
    writeValue(writer, this.valueOf(key, record))
    const stream = this.#streamAt(key, record)
    if (stream !== undefined) writer.f64(stream.groupsChangedAt)
  }

  /** To write it at once would take long. */
  isLong(key: Uint8Array, record: Uint8Array): boolean {
    if (format.typeOf(record) === RecordType.String) return false
    const value = this.#collections.get(latin1Of(key))
    if (value.size > ELEMENTS_MAX || value.usedBytes > COLLECTION_BYTES_MAX) return true
    if (!(value instanceof HashValue)) return false
    let bytes = 0
    for (const name of value.members) bytes += this.field(key, bytesOf(name))!.length
    return bytes > COLLECTION_BYTES_MAX
  }

  /**
   * As {@link encode}, of a collection, in parts: see {@link Collection.encodeParts}. `kept`: the values of fields that
   * have changed since the first one.
   */
  *encodeParts(
    writer: SnapshotWriter,
    key: Uint8Array,
    kept: ReadonlyMap<string, Uint8Array>,
  ): Generator<undefined, void, undefined> {
    const record = this.get(key)!
    const [type, version, expireAtMs] = [format.typeOf(record), format.versionOf(record), expireAtOf(record)]
    const groupsChangedAt = this.#streamAt(key, record)?.groupsChangedAt
    const parts = this.#collections.get(latin1Of(key)).encodeParts(writer)
    parts.next()
    try {
      yield
      writer.bytes(key)
      writer.f64(version)
      writer.f64(expireAtMs)
      writer.u8(type)
      const names: string[] = []
      for (const name of parts) {
        if (name !== undefined) names.push(name)
        yield
      }
      if (type === RecordType.Hash)
        for (const name of names) {
          writer.bytes(kept.get(name) ?? this.field(key, bytesOf(name))!)
          yield
        }
      if (groupsChangedAt !== undefined) writer.f64(groupsChangedAt)
    } finally {
      parts.return(undefined)
    }
  }

  /** Read a key that is not there. @throws RangeError if it is not what was written. */
  decode(reader: SnapshotReader): void {
    const key = reader.bytes()
    const head = { version: reader.f64(), expireAtMs: reader.f64() }
    this.add(key, head, readValue(reader))
    const stream = this.#streamAt(key, this.get(key)!)
    if (stream !== undefined) stream.groupsChangedAt = reader.f64()
  }

  /** Strings are there: neither tuples nor such that expire. */
  added(strings: number): void {
    this.#size += strings
  }

  #streamAt(key: Uint8Array, record: Uint8Array): StreamValue | undefined {
    if (format.typeOf(record) !== RecordType.Stream) return undefined
    return this.#collections.get(latin1Of(key)) as StreamValue
  }

  /** What a key holds: its own bytes and objects, valid until the next change. */
  valueOf(key: Uint8Array, record: Uint8Array): StoredValue {
    if (format.typeOf(record) === RecordType.String) return format.stringOf(record)
    const collection = this.#collections.get(latin1Of(key))
    const names = collection instanceof HashValue ? collection.members : []
    return { collection, fields: names.map((name) => this.field(key, bytesOf(name))!) }
  }

  /** Give a key that is not there a value, whose objects are its own from now on. */
  add(key: Uint8Array, head: RecordHead, value: StoredValue): void {
    if (value instanceof Uint8Array) {
      this.setString(key, undefined, head, value)
      return
    }
    const { collection, fields } = value
    this.addCollection(key, head, collection)
    if (!(collection instanceof HashValue)) return
    for (const [number, name] of collection.members.entries()) this.setField(key, bytesOf(name), fields[number]!)
  }

  #write(key: Uint8Array, type: number, head: RecordHead, bytes?: Uint8Array): void {
    this.#records.set(this.#keys.ofKey(key, this.#space), this.#values.of(type, head, bytes))
  }

  #enter(key: Uint8Array): void {
    this.#size += 1
    if (KeyOrder.holds(key)) this.#order.add(latin1Of(key))
  }

  #dropCollection(key: Uint8Array): void {
    const name = latin1Of(key)
    const value = this.#collections.get(name)
    if (value instanceof HashValue) for (const field of value.members) this.deleteField(key, bytesOf(field))
    this.#collections.delete(name)
  }

  #moveExpiry(key: Uint8Array, from: number, to: number): void {
    if (from !== to) this.#expiries.move(latin1Of(key), from, to)
  }
}

/** The names of the fields of a hash, for its record. */
function namesOf(value: Collection): Uint8Array | undefined {
  if (!(value instanceof HashValue)) return undefined
  value.hasNewNames = false
  return format.packNames(value.members)
}

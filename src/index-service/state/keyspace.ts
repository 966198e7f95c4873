import type { CommandContext } from '../commands/command.ts'
import { wrongType } from '../commands/reply.ts'
import type { Records } from '../memory/records.ts'
import { type Collection, decodeCollection } from '../values/collection.ts'
import { HashValue } from '../values/hash-value.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import { ListValue } from '../values/list-value.ts'
import { SetValue } from '../values/set-value.ts'
import { SortedSetValue } from '../values/sorted-set-value.ts'
import { StreamValue } from '../values/stream-value.ts'
import { Collections } from './collections.ts'
import { Expiries } from './expiries.ts'
import { KeyListing } from './key-listing.ts'
import { KeyOrder } from './key-order.ts'
import * as format from './record-format.ts'
import { expireAtOf, HEAD_BYTES, packHead, RecordKeys, RecordType } from './record-format.ts'
import type { SnapshotReader, SnapshotWriter } from './snapshot-stream.ts'

/** In place of a time: the one that there is. */
const KEEP = -1

/** What a command needs of the log. */
export type Moment = Pick<CommandContext, 'timeMs' | 'index' | 'isRead'>

/**
 * The keys of one database of a shard. Strings and the values of hash fields lie in records, where other processes read
 * them. The rest is in objects. A key's record says what it is, when it changed last and when it expires.
 *
 * A key that has expired by the time of the log is not there. It is removed when a command in the log touches it.
 */
export class Keyspace {
  /** By which its records are known. */
  readonly space: number
  readonly #records: Records
  readonly #keys = new RecordKeys()
  readonly #collections = new Collections()
  readonly #listing: KeyListing
  readonly #expiries = new Expiries()
  readonly #order = new KeyOrder()
  #size = 0
  #buffer = new Uint8Array(4096)
  readonly #moment: Moment

  /** `moment` is that of the command that runs. */
  constructor(records: Records, space: number, moment: Moment) {
    this.space = space
    this.#records = records
    this.#moment = moment
    this.#listing = new KeyListing(records, space, (key) => this.#isLive(key))
  }

  /** How many keys there are, with those that have expired and were not touched since. */
  get size(): number {
    return this.#size
  }

  get expiring(): number {
    return this.#expiries.size
  }

  /** What it takes besides records. */
  get objectsBytes(): number {
    return this.#collections.usedBytes + this.#expiries.usedBytes + this.#order.usedBytes
  }

  /** When the next key expires; Infinity if none does. */
  get nextExpiryMs(): number {
    return this.#expiries.nextMs
  }

  /** 0 if it is not there. */
  typeOf(key: Uint8Array): number {
    const record = this.#record(key)
    return record === undefined ? 0 : format.typeOf(record)
  }

  has(key: Uint8Array): boolean {
    return this.#record(key) !== undefined
  }

  /** The index of the command that changed it last; 0 if it is not there. */
  versionOf(key: Uint8Array): number {
    const record = this.#record(key)
    return record === undefined ? 0 : format.versionOf(record)
  }

  /** 0: it does not expire. undefined: it is not there. */
  expiryOf(key: Uint8Array): number | undefined {
    const record = this.#record(key)
    return record === undefined ? undefined : expireAtOf(record)
  }

  /** A view, valid until the next change. @throws CommandFault */
  string(key: Uint8Array): Uint8Array | undefined {
    const record = this.#record(key)
    if (record === undefined) return undefined
    if (format.typeOf(record) !== RecordType.String) throw wrongType()
    return format.stringOf(record)
  }

  /** @throws CommandFault */
  hash(key: Uint8Array): HashValue | undefined {
    return this.#collection(key, HashValue)
  }

  /** @throws CommandFault */
  list(key: Uint8Array): ListValue | undefined {
    return this.#collection(key, ListValue)
  }

  /** @throws CommandFault */
  set(key: Uint8Array): SetValue | undefined {
    return this.#collection(key, SetValue)
  }

  /** @throws CommandFault */
  sortedSet(key: Uint8Array): SortedSetValue | undefined {
    return this.#collection(key, SortedSetValue)
  }

  /** @throws CommandFault */
  stream(key: Uint8Array): StreamValue | undefined {
    return this.#collection(key, StreamValue)
  }

  /** Make the key a string, whatever it was. `bytes` are not a view of a record. */
  setString(key: Uint8Array, bytes: Uint8Array, expireAtMs: number = 0): void {
    const old = this.#record(key)
    const oldMs = old === undefined ? 0 : expireAtOf(old)
    const atMs = expireAtMs === KEEP ? oldMs : expireAtMs
    this.#moveExpiry(key, oldMs, atMs)
    if (old === undefined) this.#enter(key)
    else if (format.typeOf(old) !== RecordType.String) this.#dropCollection(key, latin1Of(key))
    this.#write(key, RecordType.String, atMs, bytes)
  }

  /** As {@link setString}, and it expires as before. */
  keepString(key: Uint8Array, bytes: Uint8Array): void {
    this.setString(key, bytes, KEEP)
  }

  /** A collection has changed, or is new. The key may not hold anything else. An empty one is removed. */
  changed(key: Uint8Array, value: Collection): void {
    const name = latin1Of(key)
    const isOld = this.#collections.has(name)
    if (value.size === 0 && value.type !== RecordType.Stream) {
      if (isOld) this.remove(key)
      return
    }
    const expireAtMs = isOld ? expireAtOf(this.#record(key)!) : 0
    if (isOld) this.#collections.account(name)
    else {
      this.#enter(key)
      this.#collections.add(name, value)
    }
    this.#write(key, value.type, expireAtMs)
  }

  /** Something else that a command may wait for has come to a key. */
  signal(key: Uint8Array): void {
    this.#collections.signal(latin1Of(key))
  }

  /** Make the key this collection, whatever it was; an empty one removes it. */
  replace(key: Uint8Array, value: Collection): void {
    this.remove(key)
    this.changed(key, value)
  }

  /** False if it was not there. */
  remove(key: Uint8Array): boolean {
    const record = this.#record(key)
    if (record === undefined) return false
    this.#remove(key, record)
    return true
  }

  /** When it expires; 0: never. It has to be there. */
  setExpiry(key: Uint8Array, expireAtMs: number): void {
    const record = this.#record(key)!
    this.#moveExpiry(key, expireAtOf(record), expireAtMs)
    this.#write(key, format.typeOf(record), expireAtMs, format.stringOf(record))
  }

  /** A view of the value of a field. */
  field(key: Uint8Array, field: Uint8Array): Uint8Array | undefined {
    return this.#records.get(this.#keys.ofField(key, field, this.space))
  }

  /** True if the field is new. {@link changed} has to follow. */
  setField(key: Uint8Array, hash: HashValue, field: Uint8Array, value: Uint8Array): boolean {
    const isNew = hash.add(latin1Of(field))
    this.#records.set(this.#keys.ofField(key, field, this.space), value)
    return isNew
  }

  /** False if it was not there. {@link changed} has to follow. */
  deleteField(key: Uint8Array, hash: HashValue, field: Uint8Array): boolean {
    if (!hash.delete(latin1Of(field))) return false
    return this.#records.delete(this.#keys.ofField(key, field, this.space))
  }

  /** Copy what is at `from` in a database, which may be another one, to a key, whatever that was. */
  copyFrom(source: Keyspace, from: Uint8Array, to: Uint8Array): void {
    const record = source.#record(from)!
    const expireAtMs = expireAtOf(record)
    if (format.typeOf(record) === RecordType.String) {
      this.setString(to, Uint8Array.from(format.stringOf(record)), expireAtMs)
      return
    }
    this.remove(to)
    const value = source.#collections.copyOf(latin1Of(from))
    if (value instanceof HashValue) this.#copyFields(source, from, { to, hash: value })
    this.changed(to, value)
    if (expireAtMs !== 0) this.setExpiry(to, expireAtMs)
  }

  /** Remove up to `limit` keys that have expired, in the order in which they did. */
  expireDue(limit: number): number {
    for (let expired = 0; expired < limit; expired += 1) {
      const name = this.#expiries.dueAt(this.#moment.timeMs)
      if (name === undefined) return expired
      this.#record(bytesOf(name))
    }
    return limit
  }

  /** Remove all keys, which are few beside those of other databases. */
  flush(): void {
    for (const key of [...this.#listing.every()])
      this.#remove(key, this.#records.get(this.#keys.ofKey(key, this.space))!)
  }

  /** All records are gone. */
  forget(): void {
    this.#collections.clear()
    this.#expiries.clear()
    this.#order.clear()
    this.#size = 0
  }

  /** Keys for which commands may wait, in the order in which they became ready since the last call. */
  takeReady(): readonly string[] {
    return this.#collections.takeReady()
  }

  /** Keys for SCAN. */
  scan(cursor: number, count: number): { readonly cursor: number; readonly keys: readonly Uint8Array[] } {
    return this.#moment.isRead ? this.#listing.scan(cursor, count) : this.#listing.scanAll()
  }

  /** All keys in the order of their bytes, as latin1. */
  sortedKeys(): string[] {
    return this.#listing.sorted()
  }

  /** Any key. `random` is a uniform uint32. */
  randomKey(random: number): Uint8Array | undefined {
    return this.#moment.isRead ? this.#listing.sample(random) : this.#listing.choose(random)
  }

  /** Keys that are encoded tuples, from `from` up to before `to`, or backwards. */
  *range(from: Uint8Array, to: Uint8Array, isReverse: boolean): Generator<Uint8Array> {
    for (const name of this.#order.range(latin1Of(from), latin1Of(to), isReverse)) {
      const key = bytesOf(name)
      if (this.#isLive(key)) yield key
    }
  }

  /** Write a key that may have expired, and all that is known of it. */
  encodeKey(writer: SnapshotWriter, key: Uint8Array): void {
    const record = this.#records.get(this.#keys.ofKey(key, this.space))!
    const type = format.typeOf(record)
    writer.u8(type)
    writer.bytes(key)
    writer.f64(format.versionOf(record))
    writer.f64(expireAtOf(record))
    if (type === RecordType.String) {
      writer.bytes(format.stringOf(record))
      return
    }
    const value = this.#collections.get(latin1Of(key))
    value.encode(writer)
    if (value instanceof HashValue) for (const field of value.members) writer.bytes(this.field(key, bytesOf(field))!)
  }

  /** Read a key that is not there, with the version that it had. @throws RangeError if it is not what was written. */
  decodeKey(reader: SnapshotReader): void {
    const type = reader.u8()
    const key = reader.bytes()
    const version = reader.f64()
    const expireAtMs = reader.f64()
    this.#enter(key)
    this.#moveExpiry(key, 0, expireAtMs)
    if (type === RecordType.String) {
      this.#writeHead(key, { type, version, expireAtMs }, reader.bytes())
      return
    }
    const value = decodeCollection(type, reader)
    this.#collections.add(latin1Of(key), value)
    this.#writeHead(key, { type, version, expireAtMs })
    if (value instanceof HashValue)
      for (const field of value.members)
        this.#records.set(this.#keys.ofField(key, bytesOf(field), this.space), reader.bytes())
  }

  /** The record of a key that has not expired. */
  #record(key: Uint8Array): Uint8Array | undefined {
    const record = this.#records.get(this.#keys.ofKey(key, this.space))
    if (record === undefined || this.#isValid(record)) return record
    if (!this.#moment.isRead) this.#remove(key, record)
    return undefined
  }

  #isValid(record: Uint8Array): boolean {
    const expireAtMs = expireAtOf(record)
    return expireAtMs === 0 || expireAtMs > this.#moment.timeMs
  }

  #isLive(key: Uint8Array): boolean {
    const record = this.#records.get(this.#keys.ofKey(key, this.space))
    return record !== undefined && this.#isValid(record)
  }

  #collection<T extends Collection>(key: Uint8Array, kind: new () => T): T | undefined {
    const record = this.#record(key)
    if (record === undefined) return undefined
    if (format.typeOf(record) === RecordType.String) throw wrongType()
    const value = this.#collections.get(latin1Of(key))
    if (value instanceof kind) return value
    throw wrongType()
  }

  #write(key: Uint8Array, type: number, expireAtMs: number, bytes?: Uint8Array): void {
    this.#writeHead(key, { type, version: this.#moment.index, expireAtMs }, bytes)
  }

  #writeHead(key: Uint8Array, head: format.RecordHead, bytes?: Uint8Array): void {
    const lengthBytes = HEAD_BYTES + (bytes?.length ?? 0)
    // Not the memory of a large value for ever.
    const buffer = lengthBytes <= this.#buffer.length ? this.#buffer : new Uint8Array(lengthBytes)
    packHead(buffer, head)
    if (bytes !== undefined) buffer.set(bytes, HEAD_BYTES)
    this.#records.set(this.#keys.ofKey(key, this.space), buffer.subarray(0, lengthBytes))
  }

  #enter(key: Uint8Array): void {
    this.#size += 1
    if (KeyOrder.holds(key)) this.#order.add(latin1Of(key))
  }

  #remove(key: Uint8Array, record: Uint8Array): void {
    const isString = format.typeOf(record) === RecordType.String
    this.#moveExpiry(key, expireAtOf(record), 0)
    if (!isString) this.#dropCollection(key, latin1Of(key))
    if (KeyOrder.holds(key)) this.#order.remove(latin1Of(key))
    this.#records.delete(this.#keys.ofKey(key, this.space))
    this.#size -= 1
  }

  #dropCollection(key: Uint8Array, name: string): void {
    const value = this.#collections.get(name)
    if (value instanceof HashValue)
      for (const field of value.members) this.#records.delete(this.#keys.ofField(key, bytesOf(field), this.space))
    this.#collections.delete(name)
  }

  #moveExpiry(key: Uint8Array, from: number, to: number): void {
    if (from !== to) this.#expiries.move(latin1Of(key), from, to)
  }

  #copyFields(source: Keyspace, from: Uint8Array, { to, hash }: { to: Uint8Array; hash: HashValue }): void {
    for (const name of hash.members) {
      const field = bytesOf(name)
      const value = Uint8Array.from(source.field(from, field)!)
      this.#records.set(this.#keys.ofField(to, field, this.space), value)
    }
  }
}

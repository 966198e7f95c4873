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
import { SnapshotReader, SnapshotWriter } from './snapshot-stream.ts'

/** In place of a time: the one that there is. */
const KEEP = -1

/** What a command needs of the log. */
type Moment = Pick<CommandContext, 'timeMs' | 'index' | 'isRead'>

/**
 * The keys of a shard. Strings and the values of hash fields lie in records, where other processes read them. The rest
 * is in objects. A key's record says what it is, when it changed last and when it expires.
 *
 * A key that has expired by the time of the log is not there. It is removed when a command in the log touches it.
 */
export class Keyspace {
  readonly #records: Records
  readonly #keys = new RecordKeys()
  readonly #collections = new Collections()
  readonly #listing: KeyListing
  readonly #expiries = new Expiries()
  readonly #order = new KeyOrder()
  #size = 0
  #buffer = new Uint8Array(4096)
  #moment: Moment = { timeMs: 0, index: 0, isRead: false }

  constructor(records: Records) {
    this.#records = records
    this.#listing = new KeyListing(records, (key) => this.#isLive(key))
  }

  /** Each command begins with it. */
  begin(moment: Moment): void {
    this.#moment = moment
  }

  /** How many keys there are, with those that have expired and were not touched since. */
  get size(): number {
    return this.#size
  }

  get expiring(): number {
    return this.#expiries.size
  }

  get usedBytes(): number {
    const objectsBytes = this.#collections.usedBytes + this.#expiries.usedBytes + this.#order.usedBytes
    return this.#records.usedBytes + objectsBytes
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
    return this.#records.get(this.#keys.ofField(key, field))
  }

  /** True if the field is new. {@link changed} has to follow. */
  setField(key: Uint8Array, hash: HashValue, field: Uint8Array, value: Uint8Array): boolean {
    const isNew = hash.add(latin1Of(field))
    this.#records.set(this.#keys.ofField(key, field), value)
    return isNew
  }

  /** False if it was not there. {@link changed} has to follow. */
  deleteField(key: Uint8Array, hash: HashValue, field: Uint8Array): boolean {
    if (!hash.delete(latin1Of(field))) return false
    return this.#records.delete(this.#keys.ofField(key, field))
  }

  /** Move or copy what is at `from`, which has to be there, to another key, whatever that was. */
  moveTo(from: Uint8Array, to: Uint8Array, isCopy: boolean): void {
    const record = this.#record(from)!
    const expireAtMs = expireAtOf(record)
    const type = format.typeOf(record)
    if (type === RecordType.String) this.setString(to, Uint8Array.from(format.stringOf(record)), expireAtMs)
    else {
      this.remove(to)
      const value = this.#collections.copyOf(latin1Of(from))
      if (value instanceof HashValue) this.#copyFields(from, to, value)
      this.changed(to, value)
      if (expireAtMs !== 0) this.setExpiry(to, expireAtMs)
    }
    if (!isCopy) this.remove(from)
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

  flush(): void {
    this.#clear()
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

  /** All of the state, in chunks. */
  *snapshot(): Generator<Uint8Array> {
    const writer = new SnapshotWriter()
    yield* this.encode(writer)
    yield* writer.takeAll()
  }

  /** Replace everything. @throws RangeError if the snapshot is cut off. */
  restore(chunks: readonly Uint8Array[]): void {
    this.decode(new SnapshotReader(chunks))
  }

  /** Write everything, and give the chunks that are full. */
  *encode(writer: SnapshotWriter): Generator<Uint8Array> {
    for (const key of this.#listing.every()) {
      this.#encodeKey(writer, key)
      yield* writer.takeFull()
    }
    writer.u8(0)
  }

  decode(reader: SnapshotReader): void {
    this.#clear()
    for (let type = reader.u8(); type !== 0; type = reader.u8()) this.#decodeKey(reader, type)
    this.#collections.takeReady()
  }

  #encodeKey(writer: SnapshotWriter, key: Uint8Array): void {
    const record = this.#records.get(this.#keys.ofKey(key))!
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

  #decodeKey(reader: SnapshotReader, type: number): void {
    const key = reader.bytes()
    this.#moment = { timeMs: 0, index: reader.f64(), isRead: false }
    const expireAtMs = reader.f64()
    this.#enter(key)
    this.#moveExpiry(key, 0, expireAtMs)
    if (type === RecordType.String) {
      this.#write(key, type, expireAtMs, reader.bytes())
      return
    }
    const value = decodeCollection(type, reader)
    this.#collections.add(latin1Of(key), value)
    this.#write(key, type, expireAtMs)
    if (value instanceof HashValue)
      for (const field of value.members) this.#records.set(this.#keys.ofField(key, bytesOf(field)), reader.bytes())
  }

  /** The record of a key that has not expired. */
  #record(key: Uint8Array): Uint8Array | undefined {
    const record = this.#records.get(this.#keys.ofKey(key))
    if (record === undefined || this.#isValid(record)) return record
    if (!this.#moment.isRead) this.#remove(key, record)
    return undefined
  }

  #isValid(record: Uint8Array): boolean {
    const expireAtMs = expireAtOf(record)
    return expireAtMs === 0 || expireAtMs > this.#moment.timeMs
  }

  #isLive(key: Uint8Array): boolean {
    const record = this.#records.get(this.#keys.ofKey(key))
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
    const lengthBytes = HEAD_BYTES + (bytes?.length ?? 0)
    // Not the memory of a large value for ever.
    const buffer = lengthBytes <= this.#buffer.length ? this.#buffer : new Uint8Array(lengthBytes)
    packHead(buffer, { type, version: this.#moment.index, expireAtMs })
    if (bytes !== undefined) buffer.set(bytes, HEAD_BYTES)
    this.#records.set(this.#keys.ofKey(key), buffer.subarray(0, lengthBytes))
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
    this.#records.delete(this.#keys.ofKey(key))
    this.#size -= 1
  }

  #dropCollection(key: Uint8Array, name: string): void {
    const value = this.#collections.get(name)
    if (value instanceof HashValue)
      for (const field of value.members) this.#records.delete(this.#keys.ofField(key, bytesOf(field)))
    this.#collections.delete(name)
  }

  #moveExpiry(key: Uint8Array, from: number, to: number): void {
    if (from !== to) this.#expiries.move(latin1Of(key), from, to)
  }

  #copyFields(from: Uint8Array, to: Uint8Array, hash: HashValue): void {
    for (const name of hash.members) {
      const field = bytesOf(name)
      const value = Uint8Array.from(this.field(from, field)!)
      this.#records.set(this.#keys.ofField(to, field), value)
    }
  }

  #clear(): void {
    this.#records.clear()
    this.#collections.clear()
    this.#expiries.clear()
    this.#order.clear()
    this.#size = 0
  }
}

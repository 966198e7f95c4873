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
import type { KeyEvents } from './key-events.ts'
import { KeyListing } from './key-listing.ts'
import { KeyOrder } from './key-order.ts'
import * as format from './record-format.ts'
import { expireAtOf, RecordType } from './record-format.ts'
import type { SnapshotReader, SnapshotWriter } from './snapshot-stream.ts'
import { SpaceRecords } from './space-records.ts'

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
  /** The number that it has now. */
  db: number
  /** By which its records are known. */
  readonly space: number
  readonly listing: KeyListing
  readonly #records: SpaceRecords
  readonly #collections = new Collections()
  readonly #expiries = new Expiries()
  readonly #order = new KeyOrder()
  #size = 0
  readonly #moment: Moment
  readonly #events: KeyEvents | undefined

  /** `moment` is that of the command that runs. `events` are told in the name of the database. */
  constructor(records: Records, space: number, moment: Moment, events?: KeyEvents) {
    this.space = space
    this.db = space
    this.#events = events
    this.#records = new SpaceRecords(records, space)
    this.#moment = moment
    this.listing = new KeyListing(records, space, (key) => this.#isLive(key))
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
    const isNew = this.#putString(key, bytes, expireAtMs)
    if (this.#events === undefined) return
    this.#tellChange(key, isNew, this.#events.command)
    if (expireAtMs !== 0) this.tell('expire', key)
  }

  /** As {@link setString}, and it expires as before. `isTold`: its change is an event. */
  keepString(key: Uint8Array, bytes: Uint8Array, isTold: boolean = true): void {
    const isNew = this.#putString(key, bytes, KEEP)
    this.#tellChange(key, isNew, isTold ? this.#events?.command : undefined)
  }

  /** True if the key is new. */
  #putString(key: Uint8Array, bytes: Uint8Array, expireAtMs: number): boolean {
    const old = this.#record(key)
    const oldMs = old === undefined ? 0 : expireAtOf(old)
    const atMs = expireAtMs === KEEP ? oldMs : expireAtMs
    this.#moveExpiry(key, oldMs, atMs)
    if (old === undefined) this.#enter(key)
    else if (format.typeOf(old) !== RecordType.String) this.#dropCollection(key, latin1Of(key))
    this.#write(key, RecordType.String, atMs, bytes)
    return old === undefined
  }

  /**
   * A collection has changed, or is new. The key may not hold anything else. An empty one is removed. `event` is told
   * in place of the command's own.
   */
  changed(key: Uint8Array, value: Collection, event: string | undefined = this.#events?.command): void {
    const name = latin1Of(key)
    const isOld = this.#collections.has(name)
    if (value.size === 0 && value.type !== RecordType.Stream) {
      if (!isOld) return
      this.#tellChange(key, false, event)
      this.remove(key)
      return
    }
    if (isOld) {
      this.#collections.account(name)
      this.#write(key, value.type, expireAtOf(this.#record(key)!))
    } else this.#putCollection(key, value)
    this.#tellChange(key, !isOld, event)
  }

  #putCollection(key: Uint8Array, value: Collection, expireAtMs: number = 0): void {
    this.#enter(key)
    this.#collections.add(latin1Of(key), value)
    this.#moveExpiry(key, 0, expireAtMs)
    this.#write(key, value.type, expireAtMs)
  }

  #tellChange(key: Uint8Array, isNew: boolean, event: string | undefined): void {
    if (isNew) this.tell('new', key)
    this.tell(event, key)
  }

  /** Say what has happened to a key; undefined: nothing. */
  tell(event: string | undefined, key: Uint8Array): void {
    this.#events?.tell(this.db, event, key)
  }

  /** Something else that a command may wait for has come to a key. */
  signal(key: Uint8Array): void {
    this.#collections.signal(latin1Of(key))
  }

  /** Make the key this collection, whatever it was; an empty one removes it. */
  replace(key: Uint8Array, value: Collection): void {
    if (value.size === 0) {
      this.remove(key)
      return
    }
    const isNew = !this.discard(key)
    this.#putCollection(key, value)
    this.#tellChange(key, isNew, this.#events?.command)
  }

  /** False if it was not there. */
  remove(key: Uint8Array): boolean {
    const isOld = this.discard(key)
    if (isOld) this.tell('del', key)
    return isOld
  }

  /** The same, which something else says. */
  discard(key: Uint8Array): boolean {
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
    this.tell(expireAtMs === 0 ? 'persist' : 'expire', key)
  }

  /** A view of the value of a field. */
  field(key: Uint8Array, field: Uint8Array): Uint8Array | undefined {
    return this.#records.field(key, field)
  }

  /** True if the field is new. {@link changed} has to follow. */
  setField(key: Uint8Array, hash: HashValue, field: Uint8Array, value: Uint8Array): boolean {
    const isNew = hash.add(latin1Of(field))
    this.#records.setField(key, field, value)
    return isNew
  }

  /** False if it was not there. {@link changed} has to follow. */
  deleteField(key: Uint8Array, hash: HashValue, field: Uint8Array): boolean {
    if (!hash.delete(latin1Of(field))) return false
    return this.#records.deleteField(key, field)
  }

  /** Copy what is at `from` in a database, which may be another one, to a key, whatever that was. */
  copyFrom(source: Keyspace, from: Uint8Array, to: Uint8Array): void {
    const record = source.#record(from)!
    const expireAtMs = expireAtOf(record)
    if (format.typeOf(record) === RecordType.String)
      this.#putString(to, Uint8Array.from(format.stringOf(record)), expireAtMs)
    else {
      this.discard(to)
      const value = source.#collections.copyOf(latin1Of(from))
      if (value instanceof HashValue) this.#records.copyFields(source.#records, from, { to, hash: value })
      this.#putCollection(to, value, expireAtMs)
    }
    this.tell('new', to)
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
    for (const key of [...this.listing.every()]) this.#remove(key, this.#records.get(key)!)
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

  /** Keys that are encoded tuples, from `from` up to before `to`, or backwards. */
  *range(from: Uint8Array, to: Uint8Array, isReverse: boolean): Generator<Uint8Array> {
    for (const name of this.#order.range(latin1Of(from), latin1Of(to), isReverse)) {
      const key = bytesOf(name)
      if (this.#isLive(key)) yield key
    }
  }

  /** Write a key that may have expired, and all that is known of it. */
  encodeKey(writer: SnapshotWriter, key: Uint8Array): void {
    const record = this.#records.get(key)!
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
      this.#records.set(key, { type, version, expireAtMs }, reader.bytes())
      return
    }
    const value = decodeCollection(type, reader)
    this.#collections.add(latin1Of(key), value)
    this.#records.set(key, { type, version, expireAtMs })
    if (value instanceof HashValue)
      for (const field of value.members) this.#records.setField(key, bytesOf(field), reader.bytes())
  }

  /** The record of a key that has not expired. */
  #record(key: Uint8Array): Uint8Array | undefined {
    const record = this.#records.get(key)
    if (record === undefined || this.#isValid(record)) return record
    if (this.#moment.isRead) return undefined
    this.#remove(key, record)
    this.tell('expired', key)
    return undefined
  }

  #isValid(record: Uint8Array): boolean {
    const expireAtMs = expireAtOf(record)
    return expireAtMs === 0 || expireAtMs > this.#moment.timeMs
  }

  #isLive(key: Uint8Array): boolean {
    const record = this.#records.get(key)
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
    this.#records.set(key, { type, version: this.#moment.index, expireAtMs }, bytes)
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
    this.#records.delete(key)
    this.#size -= 1
  }

  #dropCollection(key: Uint8Array, name: string): void {
    const value = this.#collections.get(name)
    if (value instanceof HashValue) this.#records.deleteFields(key, value)
    this.#collections.delete(name)
  }

  #moveExpiry(key: Uint8Array, from: number, to: number): void {
    if (from !== to) this.#expiries.move(latin1Of(key), from, to)
  }
}

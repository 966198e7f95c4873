import { wrongType } from '../commands/reply.ts'
import type { Records } from '../memory/records.ts'
import type { Collection } from '../values/collection.ts'
import { HashValue } from '../values/hash-value.ts'
import { LastName } from '../values/last-name.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import { ListValue } from '../values/list-value.ts'
import { SetValue } from '../values/set-value.ts'
import { SortedSetValue } from '../values/sorted-set-value.ts'
import { StreamValue } from '../values/stream-value.ts'
import type { Watching } from './change-watch.ts'
import { Entries } from './entries.ts'
import type { KeyEvents } from './key-events.ts'
import { KeyListing } from './key-listing.ts'
import * as format from './record-format.ts'
import { expireAtOf, type RecordHead, RecordType } from './record-format.ts'
import type { SnapshotReader, SnapshotWriter } from './snapshot-stream.ts'
import { copyOfValue, type StoredValue } from './stored-value.ts'

/** In place of a time: the one that there is. */
const KEEP = -1

/** What a command needs of the log. */
export interface Moment {
  /** The time of the log. For a read without the log, the clock. */
  readonly timeMs: number
  /** The number of the command in the log. */
  readonly index: number
  /** True if the command is not in the log: it changes nothing, and its answer may depend on this process. */
  readonly isRead: boolean
}

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
  readonly #entries: Entries
  readonly #moment: Moment
  readonly #names = new LastName()
  readonly #events: KeyEvents | undefined

  /** `moment` is that of the command that runs. `events` are told in the name of the database. */
  constructor(records: Records, space: number, moment: Moment, events?: KeyEvents, watching?: Watching) {
    this.space = space
    this.db = space
    this.#events = events
    this.#entries = new Entries(records, space, watching)
    this.#moment = moment
    this.listing = new KeyListing(records, space, (key) => this.#isLive(key))
  }

  /** How many keys there are, with those that have expired and were not touched since. */
  get size(): number {
    return this.#entries.size
  }

  get expiring(): number {
    return this.#entries.expiries.size
  }

  /** What it takes besides records. */
  get objectsBytes(): number {
    return this.#entries.objectsBytes
  }

  /** When the next key expires; Infinity if none does. */
  get nextExpiryMs(): number {
    return this.#entries.expiries.nextMs
  }

  /** 0 if it is not there. */
  typeOf(key: Uint8Array): number {
    const record = this.#record(key)
    return record === undefined ? 0 : format.typeOf(record)
  }

  has(key: Uint8Array): boolean {
    return this.#record(key) !== undefined
  }

  /**
   * The index of the command that changed it last; 0 if it is not there. As in Redis, what happens to the groups of a
   * stream is no change of the key.
   */
  versionOf(key: Uint8Array): number {
    const record = this.#record(key)
    return record === undefined ? 0 : format.versionOf(record)
  }

  /** The same, and what happens to groups is a change. */
  stateVersionOf(key: Uint8Array): number {
    const record = this.#record(key)
    if (record === undefined) return 0
    const version = format.versionOf(record)
    if (format.typeOf(record) !== RecordType.Stream) return version
    return Math.max(version, this.stream(key)!.groupsChangedAt)
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
    if (this.#events !== undefined) this.#tellChange(key, isNew, isTold ? this.#events.command : undefined)
  }

  /** True if the key is new. */
  #putString(key: Uint8Array, bytes: Uint8Array, expireAtMs: number): boolean {
    const old = this.#record(key)
    const atMs = expireAtMs === KEEP ? (old === undefined ? 0 : expireAtOf(old)) : expireAtMs
    this.#entries.setString(key, old, this.#head(atMs), bytes)
    this.#events?.changed(this.db, key)
    return old === undefined
  }

  /**
   * A collection has changed, or is new. The key may not hold anything else. An empty one is removed. `event` is told
   * in place of the command's own.
   */
  changed(key: Uint8Array, value: Collection, event: string | undefined = this.#events?.command): void {
    const name = this.#names.of(key)
    const isOld = this.#entries.collections.has(name)
    if (value.size === 0 && value.type !== RecordType.Stream) {
      if (!isOld) return
      this.#tellChange(key, false, event)
      this.remove(key)
      return
    }
    if (isOld) this.#entries.touch(key, name, value, this.#moment.index)
    else this.#entries.addCollection(key, this.#head(0), value)
    if (this.#events === undefined) return
    this.#events.changed(this.db, key)
    this.#tellChange(key, !isOld, event)
  }

  /** The groups of a stream have changed, or it is new. */
  regrouped(key: Uint8Array, stream: StreamValue, event: string | undefined = this.#events?.command): void {
    const record = this.#record(key)
    if (record === undefined) {
      this.changed(key, stream, event)
      return
    }
    stream.groupsChangedAt = this.#moment.index
    this.#entries.touch(key, latin1Of(key), stream, format.versionOf(record))
    this.#events?.changed(this.db, key)
    this.tell(event, key)
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
    this.#entries.collections.signal(latin1Of(key))
  }

  /** Make the key this collection, whatever it was; an empty one removes it. */
  replace(key: Uint8Array, value: Collection): void {
    if (value.size === 0) {
      this.remove(key)
      return
    }
    const isNew = !this.discard(key)
    this.#entries.addCollection(key, this.#head(0), value)
    this.#events?.changed(this.db, key)
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
    this.#entries.remove(key, record)
    this.#events?.changed(this.db, key)
    return true
  }

  /** Remove it to make room. False if it was not there. */
  evict(key: Uint8Array): boolean {
    const record = this.#record(key)
    if (record === undefined) return false
    this.#entries.remove(key, record)
    this.#events?.gone(this.db, key)
    this.tell('evicted', key)
    return true
  }

  /** When it expires; 0: never. It has to be there. */
  setExpiry(key: Uint8Array, expireAtMs: number): void {
    const record = this.#record(key)!
    this.#entries.setExpiry(key, record, this.#head(expireAtMs))
    this.#events?.changed(this.db, key)
    this.tell(expireAtMs === 0 ? 'persist' : 'expire', key)
  }

  /** A view of the value of a field. */
  field(key: Uint8Array, field: Uint8Array): Uint8Array | undefined {
    return this.#entries.field(key, field)
  }

  /** True if the field is new. {@link changed} has to follow. */
  setField(key: Uint8Array, hash: HashValue, field: Uint8Array, value: Uint8Array): boolean {
    const isNew = hash.add(latin1Of(field))
    this.#entries.setField(key, field, value)
    return isNew
  }

  /** False if it was not there. {@link changed} has to follow. */
  deleteField(key: Uint8Array, hash: HashValue, field: Uint8Array): boolean {
    if (!hash.delete(latin1Of(field))) return false
    return this.#entries.deleteField(key, field)
  }

  /** Copy what is at `from` in a database, which may be another one, to a key, whatever that was. */
  copyFrom(source: Keyspace, from: Uint8Array, to: Uint8Array): void {
    const expireAtMs = source.expiryOf(from)!
    const value = copyOfValue(source.valueOf(from)!)
    this.discard(to)
    this.add(to, value, expireAtMs)
  }

  /** What a key holds: its own bytes and objects, valid until the next change. */
  valueOf(key: Uint8Array): StoredValue | undefined {
    const record = this.#record(key)
    return record === undefined ? undefined : this.#entries.valueOf(key, record)
  }

  /** Give a key that is not there a value, whose objects are its own from now on. */
  add(key: Uint8Array, value: StoredValue, expireAtMs: number): void {
    this.#entries.add(key, this.#head(expireAtMs), value)
    this.#events?.changed(this.db, key)
    this.tell('new', key)
  }

  /** What a key takes in memory. It has to be there. */
  usedBytesOf(key: Uint8Array): number {
    return this.#entries.usedBytesOf(key)
  }

  /** The same without its record, and those of its fields. */
  besideBytesOf(key: Uint8Array, record: Uint8Array): number {
    return this.#entries.besideBytesOf(key, record)
  }

  /** How long ago it was used, in this process; undefined if that is not noted. */
  idleMs(key: Uint8Array): number | undefined {
    return this.#entries.idleMs(key, this.#moment.timeMs)
  }

  /** How often it is used, in this process: from 0 to 255; undefined if that is not noted. */
  frequency(key: Uint8Array): number | undefined {
    return this.#entries.frequency(key, this.#moment.timeMs)
  }

  /** The keys that are not strings, as latin1, from the oldest on. */
  get collectionNames(): Iterable<string> {
    return this.#entries.collections.names
  }

  /** Of the keys that expire, that with `rank` others before it. */
  expiringAt(rank: number): { readonly key: Uint8Array; readonly atMs: number } {
    const { key, atMs } = this.#entries.expiries.at(rank)
    return { key: bytesOf(key), atMs }
  }

  /** Remove up to `limit` keys that have expired, in the order in which they did. */
  expireDue(limit: number): number {
    for (let expired = 0; expired < limit; expired += 1) {
      const name = this.#entries.expiries.dueAt(this.#moment.timeMs)
      if (name === undefined) return expired
      this.#record(bytesOf(name))
    }
    return limit
  }

  /** Remove all keys, which are few beside those of other databases. */
  flush(): void {
    for (const key of [...this.listing.every()]) this.#entries.remove(key, this.#entries.get(key)!)
  }

  /** All records are gone. */
  forget(): void {
    this.#entries.clear()
  }

  /** Keys for which commands may wait, in the order in which they became ready since the last call. */
  takeReady(): readonly string[] {
    return this.#entries.collections.takeReady()
  }

  /**
   * Visit keys that are encoded tuples, from `from` up to before `to`, or backwards, until `visit` returns false. A
   * record is valid until the next one.
   */
  range(
    from: Uint8Array,
    to: Uint8Array,
    isReverse: boolean,
    visit: (key: Uint8Array, record: Uint8Array) => boolean,
  ): void {
    this.#entries.order.range(latin1Of(from), latin1Of(to), isReverse, (name) => {
      const key = bytesOf(name)
      const record = this.#entries.get(key)
      return record === undefined || !this.#isValid(record) || visit(key, record)
    })
  }

  /** Write a key that may have expired, and all that is known of it. */
  encodeKey(writer: SnapshotWriter, key: Uint8Array): void {
    this.#entries.encode(writer, key)
  }

  /** To write it at once would take long. */
  isLong(key: Uint8Array): boolean {
    return this.#entries.isLong(key, this.#entries.get(key)!)
  }

  /** See {@link Entries.encodeParts}. */
  encodeParts(writer: SnapshotWriter, key: Uint8Array, kept: ReadonlyMap<string, Uint8Array>): Generator<undefined> {
    return this.#entries.encodeParts(writer, key, kept)
  }

  /** Read a key that is not there, with the version that it had. @throws RangeError if it is not what was written. */
  decodeKey(reader: SnapshotReader): void {
    this.#entries.decode(reader)
  }

  /** Strings are there, which were not: see {@link Records.addStrings}. */
  added(strings: number): void {
    this.#entries.added(strings)
  }

  /** The record of a key that has not expired. */
  #record(key: Uint8Array): Uint8Array | undefined {
    const record = this.#entries.get(key)
    if (record === undefined || this.#isValid(record)) return record
    if (this.#moment.isRead) return undefined
    this.#entries.remove(key, record)
    this.#events?.gone(this.db, key)
    this.tell('expired', key)
    return undefined
  }

  #isValid(record: Uint8Array): boolean {
    const expireAtMs = expireAtOf(record)
    return expireAtMs === 0 || expireAtMs > this.#moment.timeMs
  }

  #isLive(key: Uint8Array): boolean {
    const record = this.#entries.get(key)
    return record !== undefined && this.#isValid(record)
  }

  #collection<T extends Collection>(key: Uint8Array, kind: new () => T): T | undefined {
    const record = this.#record(key)
    if (record === undefined) return undefined
    if (format.typeOf(record) === RecordType.String) throw wrongType()
    if (!this.#moment.isRead) this.#entries.open(key, record)
    const value = this.#entries.collections.get(this.#names.of(key))
    if (value instanceof kind) return value
    throw wrongType()
  }

  /** What the command that runs writes. */
  #head(expireAtMs: number): RecordHead {
    return { version: this.#moment.index, expireAtMs }
  }
}

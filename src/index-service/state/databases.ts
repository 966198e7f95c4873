import { SPACES } from '../memory/layout.ts'
import type { Records } from '../memory/records.ts'
import { bytesOf } from '../values/latin1.ts'
import type { Watching } from './change-watch.ts'
import type { KeyEvents } from './key-events.ts'
import { Keyspace, type Moment } from './keyspace.ts'
import { decodeRecords } from './snapshot-records.ts'
import type { SnapshotReader, SnapshotWriter } from './snapshot-stream.ts'

/** How many there are, as Redis has by default. */
export const DATABASES_MAX: number = SPACES

export interface DatabaseCounts {
  readonly db: number
  readonly keys: number
  readonly expiring: number
}

/**
 * The databases of a shard, over the records that they share. A database is made when it is first used.
 *
 * Its records lie in a space, which has the database's number. When two are swapped, so are their spaces: no record is
 * touched. Readers from outside are told, see {@link Records.swapSpaces}.
 */
export class Databases {
  readonly #records: Records
  readonly #moment: Moment
  readonly #waitingKeys: (db: number) => readonly string[]
  readonly #events: KeyEvents | undefined
  readonly #watching: Watching | undefined
  readonly #spaces = Array.from({ length: DATABASES_MAX }, (_, space) => space)
  /** By number. */
  readonly #keyspaces: (Keyspace | undefined)[] = Array.from({ length: DATABASES_MAX }, () => undefined)
  /** Those that were made, in the order of their numbers. */
  #held: readonly Keyspace[] = []
  /** The command that swapped each last. All that it holds has changed then. */
  readonly #swapped = Array.from({ length: DATABASES_MAX }, () => 0)

  /** `moment` is that of the command that runs. `waitingKeys` are those for which commands wait, as latin1. */
  constructor(parts: {
    readonly records: Records
    readonly moment: Moment
    readonly waitingKeys: (db: number) => readonly string[]
    readonly events: KeyEvents | undefined
    readonly watching?: Watching
  }) {
    this.#records = parts.records
    this.#moment = parts.moment
    this.#waitingKeys = parts.waitingKeys
    this.#events = parts.events
    this.#watching = parts.watching
  }

  /** `db`: from 0 to 15. @throws RangeError */
  at(db: number): Keyspace {
    return this.#keyspaces[db] ?? this.#make(db)
  }

  static has(db: number): boolean {
    return Number.isInteger(db) && db >= 0 && db < DATABASES_MAX
  }

  get held(): readonly Keyspace[] {
    return this.#held
  }

  /** Of each that was used: its keys, and those that will expire. */
  get counts(): readonly DatabaseCounts[] {
    return this.#keyspaces.flatMap((keyspace, db) =>
      keyspace === undefined ? [] : [{ db, keys: keyspace.size, expiring: keyspace.expiring }],
    )
  }

  get size(): number {
    return this.#sum(({ size }) => size)
  }

  get expiring(): number {
    return this.#sum(({ expiring }) => expiring)
  }

  get usedBytes(): number {
    let bytes = this.#records.usedBytes
    for (const keyspace of this.#held) bytes += keyspace.objectsBytes
    return bytes
  }

  /** When the next key expires; Infinity if none does. */
  get nextExpiryMs(): number {
    return Math.min(...this.#held.map(({ nextExpiryMs }) => nextExpiryMs), Infinity)
  }

  /** The index of the command that changed a key last, see {@link Keyspace.versionOf}; 0 if it is not there. */
  versionOf(db: number, key: Uint8Array): number {
    return this.#versionIn(db, this.at(db).versionOf(key))
  }

  /** See {@link Keyspace.stateVersionOf}. */
  stateVersionOf(db: number, key: Uint8Array): number {
    return this.#versionIn(db, this.at(db).stateVersionOf(key))
  }

  #versionIn(db: number, version: number): number {
    return version === 0 ? 0 : Math.max(version, this.#swapped[db]!)
  }

  /** The number of the database whose records lie in a space. */
  dbOf(space: number): number {
    return this.#spaces.indexOf(space)
  }

  /** Whose records lie in a space. */
  ofSpace(space: number): Keyspace {
    return this.at(this.dbOf(space))
  }

  /** Remove up to `limit` keys that have expired. */
  expireDue(limit: number): number {
    let expired = 0
    for (const keyspace of this.#held) expired += keyspace.expireDue(limit - expired)
    return expired
  }

  flush(db: number): void {
    this.#events?.changedAll()
    const keyspace = this.at(db)
    if (keyspace.size === this.size) this.#clear()
    else keyspace.flush()
  }

  flushAll(): void {
    this.#events?.changedAll()
    this.#clear()
  }

  #clear(): void {
    this.#watching?.by?.clearing()
    this.#records.clear()
    for (const keyspace of this.#held) keyspace.forget()
  }

  /** Each has what the other one had. */
  swap(one: number, other: number): void {
    if (one === other) return
    this.#events?.changedAll()
    const [ofOne, ofOther] = [this.at(one), this.at(other)]
    this.#keyspaces[one] = ofOther
    this.#keyspaces[other] = ofOne
    ofOther.db = one
    ofOne.db = other
    this.#spaces[one] = ofOther.space
    this.#spaces[other] = ofOne.space
    this.#swapped[one] = this.#moment.index
    this.#swapped[other] = this.#moment.index
    this.#records.swapSpaces(one, other)
    this.#list()
    for (const db of [one, other]) for (const name of this.#waitingKeys(db)) this.at(db).signal(bytesOf(name))
  }

  /** Write what there is besides keys. They follow, and then 0: see {@link RecordWalk}. */
  encodeSwaps(writer: SnapshotWriter): void {
    for (const index of this.#swapped) writer.count(index)
  }

  /** Replace everything. @throws RangeError if it is not what was written. */
  decode(reader: SnapshotReader): void {
    this.flushAll()
    for (const db of this.#swapped.keys()) this.#swapped[db] = reader.count()
    decodeRecords(this.#records, reader, {
      added: (db, strings) => this.at(db).added(strings),
      next: () => {
        const number = reader.u8()
        if (number !== 0) this.at(number - 1).decodeKey(reader)
        return number !== 0
      },
    })
    for (const keyspace of this.#held) keyspace.takeReady()
  }

  #make(db: number): Keyspace {
    if (!Databases.has(db)) throw new RangeError(`there are databases 0 to ${DATABASES_MAX - 1}, and not ${db}`)
    const made = new Keyspace(this.#records, this.#spaces[db]!, this.#moment, this.#events, this.#watching)
    made.db = db
    this.#keyspaces[db] = made
    this.#list()
    return made
  }

  #list(): void {
    this.#held = this.#keyspaces.filter((keyspace) => keyspace !== undefined)
  }

  #sum(of: (keyspace: Keyspace) => number): number {
    return this.#held.reduce((sum, keyspace) => sum + of(keyspace), 0)
  }
}

import { ReadIndex } from '../../consensus/index.ts'
import { type LocatedOrNot, locate, type PlacedOrNot, placeOnMachine } from '../located.ts'
import { isThere, type Looked, type LookedHash, lookedInto } from '../looked.ts'
import { type Found, TableReader } from '../memory/table-reader.ts'
import type { NodeCard, ShardSight } from '../node/index-contract.ts'
import { namesIn, RecordKeys, RecordType, typeOf, versionOf } from '../state/record-format.ts'

/** A hash that changes faster than it is read is asked for by a call. */
const HASH_TRIES_MAX = 4

/** What says from which entry on a look is not older than its call, as `ReadIndex` does. */
export interface LookIndex {
  /** Undefined if it has to be asked for. */
  confirm(): number | undefined
  close(): void
}

/**
 * Reads of a shard by the memory of its nodes, without asking them. A look is as fresh as a call to the leader would
 * be. The memory may be mapped, or fetched in the order in which it is looked at: see `RemoteReads`.
 *
 * 1. The {@link LookIndex} gives an entry of the log before which everything lies that anyone was answered.
 * 2. The leader's records hold what its state holds after an entry that is not before that one. They say so.
 * 3. It is looked for in the space of the database, and no databases were swapped meanwhile.
 * 4. The record is found, and the records still say so. They would not if they had been emptied for a snapshot.
 *
 * A call of several commands changes several records one after the other. A reader that sees one of them changed finds
 * that its entry is decided. So its next look waits until all of it is applied. A look is of one record only, or of the
 * records of one hash.
 */
export class ForeignReads {
  readonly #readIndex: LookIndex
  readonly #keys = new RecordKeys()
  /** The leader's. */
  readonly #table: TableReader | undefined

  constructor(readIndex: LookIndex, table: TableReader | undefined) {
    this.#readIndex = readIndex
    this.#table = table
  }

  /** Of nodes of this machine. */
  static mapped(
    { shard, leader, configuration, sights, isDurable }: ShardSight,
    nodes: readonly NodeCard[],
  ): ForeignReads {
    const readIndex = new ReadIndex(() => sights, isDurable)
    if (configuration !== undefined) readIndex.configuration = configuration
    const card = nodes.find(({ rank }) => rank === leader)
    const held = card?.holds.find((each) => each.shard === shard)
    return new ForeignReads(readIndex, held && TableReader.open(card!.processId, held.table))
  }

  string(key: Uint8Array, db: number): Looked | undefined {
    const swaps = this.#table?.swaps
    const record = this.#read(this.#keys.ofKey(key, this.#spaceOf(db)))
    return record === 'unknown' || !this.#isSteady(swaps) ? undefined : lookedInto(record)
  }

  field(key: Uint8Array, field: Uint8Array, db: number): Looked | undefined {
    const swaps = this.#table?.swaps
    const looked = this.#fieldIn(key, field, this.#spaceOf(db))
    return this.#isSteady(swaps) ? looked : undefined
  }

  /** All fields of a hash with their values, as they were at one moment. */
  hash(key: Uint8Array, db: number): LookedHash | undefined {
    for (let tries = 0; tries < HASH_TRIES_MAX; tries += 1) {
      const swaps = this.#table?.swaps
      const looked = this.#hashIn(key, this.#spaceOf(db))
      if (looked !== 'again' && this.#isSteady(swaps)) return looked
    }
    return undefined
  }

  /** The same in memory of this machine. */
  locateHere(key: Uint8Array, field: Uint8Array | undefined): PlacedOrNot {
    return this.#table && placeOnMachine(this.locate(key, field), this.#table)
  }

  /** Where the string at a key lies, or a field of the hash there. It is as fresh as a look. */
  locate(key: Uint8Array, field: Uint8Array | undefined): LocatedOrNot {
    const table = this.#table
    const swaps = table?.swaps
    const index = this.#readIndex.confirm()
    if (table === undefined || index === undefined || table.applied < index) return undefined
    const located = locate(table, this.#keys, { key, field, space: table.spaceOf(0) })
    return table.appliedAfter < index || !this.#isSteady(swaps) ? undefined : located
  }

  close(): void {
    this.#readIndex.close()
    this.#table?.close()
  }

  #fieldIn(key: Uint8Array, field: Uint8Array, space: number): Looked | undefined {
    const hash = this.#read(this.#keys.ofKey(key, space))
    if (hash === 'unknown') return undefined
    if (hash === undefined || !isThere(hash)) return null
    if (typeOf(hash) !== RecordType.Hash) return 'other type'
    const value = this.#read(this.#keys.ofField(key, field, space))
    if (value === 'unknown') return undefined
    if (value !== undefined) return value
    // The key may hold something else by now, and its fields are gone.
    const after = this.#read(this.#keys.ofKey(key, space))
    return after instanceof Uint8Array && versionOf(after) === versionOf(hash) ? null : undefined
  }

  /**
   * 1. The record of the key says which entry of the log has changed the hash last. All of that entry is applied before
   *    any field is read.
   * 2. What a later entry has changed is decided, also if only a part of it is applied. So the last look waits for it,
   *    and finds another version.
   */
  #hashIn(key: Uint8Array, space: number): LookedHash | undefined | 'again' {
    const table = this.#table
    const applied = table?.applied
    const hash = this.#read(this.#keys.ofKey(key, space))
    if (table === undefined || applied === undefined || hash === 'unknown') return undefined
    if (hash === undefined || !isThere(hash)) return null
    if (typeOf(hash) !== RecordType.Hash) return 'other type'
    const version = versionOf(hash)
    if (version > applied) return 'again'
    const names = namesIn(hash)
    if (names.length === 0) return undefined
    const fields: (readonly [Uint8Array, Uint8Array])[] = []
    for (const name of names) {
      const value = table.get(this.#keys.ofField(key, name, space))
      if (!(value instanceof Uint8Array)) return 'again'
      fields.push([name, value])
    }
    const after = this.#read(this.#keys.ofKey(key, space))
    return after instanceof Uint8Array && versionOf(after) === version ? fields : 'again'
  }

  #spaceOf(db: number): number {
    return this.#table?.spaceOf(db) ?? 0
  }

  /** No database was swapped meanwhile. */
  #isSteady(swaps: number | undefined): boolean {
    return swaps !== undefined && swaps % 2 === 0 && this.#table?.swapsAfter === swaps
  }

  #read(key: Uint8Array): Found {
    const table = this.#table
    const index = this.#readIndex.confirm()
    if (table === undefined || index === undefined || table.applied < index) return 'unknown'
    const found = table.get(key)
    return table.appliedAfter < index ? 'unknown' : found
  }
}

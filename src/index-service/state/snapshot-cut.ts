import { SPACES } from '../memory/layout.ts'
import type { Records } from '../memory/records.ts'
import { latin1Of } from '../values/latin1.ts'
import type { ChangeWatch, Watching } from './change-watch.ts'
import type { Databases } from './databases.ts'
import { keyOfRecord, RecordKeys, spaceOfRecord, versionOf } from './record-format.ts'
import { RecordWalk } from './snapshot-records.ts'
import { SnapshotWriter } from './snapshot-stream.ts'

/** When a step ends. */
export interface CutStep {
  /** It has written as much. */
  readonly bytes: number
  /** It has written that many keys and elements one by one. */
  readonly count: number
  /** Of the table, in a row. */
  readonly buckets: number
}

/** A millisecond or two. */
const STEP: CutStep = { bytes: 262_144, count: 512, buckets: 512 }
/** Chunks that a step gives at the end, when there are only such. */
const CHUNKS_MAX = 4

export interface SnapshotCutOptions {
  readonly databases: Databases
  readonly records: Records
  /** The command that was the last one. */
  readonly index: number
  /** Where it is told of changes. Undefined if there are none before its end. */
  readonly watching: Watching | undefined
  /** Write what comes before the databases. */
  readonly encodeHead: (writer: SnapshotWriter) => void
  readonly step?: CutStep | undefined
}

/** A collection that is written in parts. */
interface LongKey {
  isBegun: boolean
  readonly parts: Generator<undefined>
  /** The number of its database plus 1. */
  readonly number: number
  /** By space and key. */
  readonly name: string
}

/**
 * The state of a shard after one command, written in steps while further commands are applied: copy-on-write.
 *
 * - A walk goes through the table. It passes a record if that is newer than the cut: its version says so.
 * - What the walk has not passed is written before it changes, to `beside`, unless it is newer.
 * - A collection may be changed by each command that looks at it, so it is written when it is first looked at. It is
 *   remembered, as it may stay what it was.
 * - A long collection is not written at once. It notes what it has, and keeps of that what changes before it is
 *   written.
 * - When all keys are removed, the rest cannot be written in time. So the cut is given up; the next one has little.
 *
 * Nothing of that is in the log or counts as used memory: other replicas take no snapshot at that time.
 */
export class SnapshotCut implements ChangeWatch {
  readonly #databases: Databases
  readonly #records: Records
  readonly #index: number
  readonly #watching: Watching | undefined
  readonly #stepMax: CutStep
  /** Of databases by space, as they were. */
  readonly #numbers: readonly number[]
  readonly #writer = new SnapshotWriter()
  /** What was copied before it changed. It follows when the walk is over. */
  readonly #beside = new SnapshotWriter()
  readonly #walk: RecordWalk
  readonly #keys = new RecordKeys()
  /** Collections that were looked at before the walk came to them, by space and key. */
  readonly #opened = new Set<string>()
  readonly #long: LongKey[] = []
  /** Values of fields that have changed before they were written, of hashes among them. */
  readonly #fields = new Map<string, Map<string, Uint8Array>>()
  #rest: Uint8Array[] | undefined
  #isGivenUp = false

  constructor({ databases, records, index, watching, encodeHead, step = STEP }: SnapshotCutOptions) {
    this.#databases = databases
    this.#records = records
    this.#index = index
    this.#watching = watching
    this.#stepMax = step
    this.#numbers = Array.from({ length: SPACES }, (_, space) => databases.dbOf(space) + 1)
    encodeHead(this.#writer)
    databases.encodeSwaps(this.#writer)
    this.#walk = new RecordWalk({
      ...{ records, writer: this.#writer, versionMax: index, numbers: this.#numbers },
      bucketsMax: step.buckets,
      write: (record) => this.#walked(record),
    })
    if (watching === undefined) return
    watching.by = this
    records.unpacked = { versionMax: index, cursor: 0 }
  }

  /** All keys were removed meanwhile. What it has given is of no use. */
  get isGivenUp(): boolean {
    return this.#isGivenUp
  }

  /** Go on. Chunks that are full, or undefined after the last. */
  next(): readonly Uint8Array[] | undefined {
    if (this.#rest === undefined) {
      this.#unused(() => this.#step())
      if (this.#walk.isOver && this.#long.length === 0) this.#finish()
      return this.#writer.takeFull()
    }
    return this.#rest.length === 0 ? undefined : this.#rest.splice(0, CHUNKS_MAX)
  }

  /** No more is wanted. */
  end(): void {
    for (const { parts } of this.#long.splice(0)) parts.return(undefined)
    this.#fields.clear()
    this.#opened.clear()
    if (this.#watching?.by !== this) return
    this.#watching.by = undefined
    this.#records.unpacked = undefined
  }

  // ---- what is about to change
  // ---------------------------------------------------------------------------------------------------------------

  changing(space: number, key: Uint8Array, record: Uint8Array): void {
    if (this.#isWanted(space, key, record)) this.#unused(() => this.#write(this.#beside, space, key))
  }

  opening(space: number, key: Uint8Array, record: Uint8Array): void {
    if (!this.#isWanted(space, key, record)) return
    this.#opened.add(nameOf(space, key))
    this.#unused(() => this.#write(this.#beside, space, key))
  }

  changingField(space: number, key: Uint8Array, field: Uint8Array): void {
    if (this.#fields.size === 0) return
    const kept = this.#fields.get(nameOf(space, key))
    const name = latin1Of(field)
    if (kept === undefined || kept.has(name)) return
    const value = this.#unused(() => this.#records.get(this.#keys.ofField(key, field, space)))
    if (value !== undefined) kept.set(name, Uint8Array.from(value))
  }

  clearing(): void {
    this.#isGivenUp = true
    this.end()
  }

  // ---- steps
  // ---------------------------------------------------------------------------------------------------------------

  #step(): void {
    const { bytes, count } = this.#stepMax
    const end = this.#writer.lengthBytes + bytes
    for (let left = count; left > 0 && this.#writer.lengthBytes < end; ) {
      if (this.#long.length > 0) {
        this.#partOfLong()
        left -= 1
      } else if (this.#walk.isOver) return
      else {
        left -= 1 + this.#walk.step()
        this.#tellPassed()
      }
    }
  }

  #tellPassed(): void {
    const { unpacked } = this.#records
    if (this.#watching?.by !== this || unpacked === undefined) return
    if (this.#walk.isOver) this.#records.unpacked = undefined
    else unpacked.cursor = this.#walk.cursor
  }

  #finish(): void {
    this.end()
    const last = this.#beside.lengthBytes === 0 ? this.#writer : this.#beside
    last.u8(0)
    this.#rest = [...this.#writer.takeAll(), ...this.#beside.takeAll()]
  }

  /** A record of the walk. */
  #walked(recordKey: Uint8Array): void {
    const space = spaceOfRecord(recordKey)
    if (space === undefined) return
    const key = keyOfRecord(recordKey)
    const isNewer = versionOf(this.#records.get(recordKey)!) > this.#index
    if (!isNewer && !this.#opened.has(nameOf(space, key))) this.#write(this.#writer, space, key)
  }

  /** It was there at the cut, is as it was, and was not written. */
  #isWanted(space: number, key: Uint8Array, record: Uint8Array): boolean {
    if (versionOf(record) > this.#index || this.#walk.isOver) return false
    if (this.#records.isPassed!(this.#keys.ofKey(key, space), this.#walk.cursor)) return false
    return !this.#opened.has(nameOf(space, key))
  }

  #write(writer: SnapshotWriter, space: number, key: Uint8Array): void {
    const number = this.#numbers[space]!
    const keyspace = this.#databases.ofSpace(space)
    if (this.#watching === undefined || !keyspace.isLong(key)) {
      writer.u8(number)
      keyspace.encodeKey(writer, key)
      return
    }
    const name = nameOf(space, key)
    const kept = new Map<string, Uint8Array>()
    const parts = keyspace.encodeParts(this.#writer, Uint8Array.from(key), kept)
    parts.next()
    this.#fields.set(name, kept)
    this.#long.push({ isBegun: false, parts, number, name })
  }

  /** Begin or go on with the first of the long ones. */
  #partOfLong(): void {
    const long = this.#long[0]!
    if (!long.isBegun) this.#writer.u8(long.number)
    long.isBegun = true
    if (long.parts.next().done !== true) return
    this.#long.shift()
    this.#fields.delete(long.name)
  }

  /** What it looks at is not used. */
  #unused<T>(act: () => T): T {
    const { nowMs } = this.#records
    this.#records.nowMs = 0
    try {
      return act()
    } finally {
      this.#records.nowMs = nowMs
    }
  }
}

function nameOf(space: number, key: Uint8Array): string {
  return `${space}/${latin1Of(key)}`
}

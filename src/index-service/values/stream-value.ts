import { RecordType } from '../state/record-format.ts'
import { type SnapshotReader, SnapshotWriter } from '../state/snapshot-stream.ts'
import { OrderedMap } from './ordered-map.ts'
import { compareIds, readId, StreamGroup } from './stream-group.ts'

/** Entries of a stream that are being written as they were. */
interface KeptEntries {
  /** Those up to here were written. */
  writtenId: bigint
  /** Of the last one. */
  readonly lastId: bigint
  /** Those that were not written before they went. */
  readonly gone: StreamEntry[]
  /** Those that came since, where one was before: `XSETID` may lower the id from which on they come. */
  readonly come: Set<bigint>
}

interface RangeOptions {
  readonly count?: number
  readonly isReverse?: boolean
}

/** Fields and values, one behind the other. */
export type StreamFields = readonly string[]
export type StreamEntry = readonly [id: bigint, fields: StreamFields]

const ENTRY_BYTES = 112
const FIELD_BYTES = 24
const STREAM_BYTES = 570

/**
 * The entries of a stream by id, and its groups. An id is one number of 128 bits: milliseconds above, the sequence
 * below.
 */
export class StreamValue {
  readonly type: typeof RecordType.Stream = RecordType.Stream
  /** Of the last entry ever. */
  lastId = 0n
  /** Of the entries that were deleted one by one. */
  maxDeletedId = 0n
  /** How many were ever added. */
  entriesAdded = 0
  /** The index of the command that changed its groups or counters last, if it changed no entries. */
  groupsChangedAt = 0
  readonly #entries = new OrderedMap<bigint, StreamFields>(compareIds)
  readonly #groups = new Map<string, StreamGroup>()
  #entriesBytes = 0
  #kept: KeptEntries | undefined

  get size(): number {
    return this.#entries.size
  }

  get usedBytes(): number {
    let groupsBytes = 0
    for (const group of this.#groups.values()) groupsBytes += group.usedBytes
    return STREAM_BYTES + this.#entriesBytes + groupsBytes
  }

  /** In the order of their names. */
  get groups(): readonly StreamGroup[] {
    return [...this.#groups.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
  }

  get first(): StreamEntry | undefined {
    return this.#entries.first()
  }

  get last(): StreamEntry | undefined {
    return this.#entries.last()
  }

  group(name: string): StreamGroup | undefined {
    return this.#groups.get(name)
  }

  /** There may be none of that name. */
  addGroup(group: StreamGroup): void {
    this.#groups.set(group.name, group)
  }

  deleteGroup(name: string): boolean {
    return this.#groups.delete(name)
  }

  get(id: bigint): StreamFields | undefined {
    return this.#entries.get(id)
  }

  /** The id has to be above all before. */
  append(id: bigint, fields: StreamFields): void {
    this.#insert(id, fields)
    this.lastId = id
    this.entriesAdded += 1
  }

  delete(id: bigint): boolean {
    if (!this.#remove(id)) return false
    if (id > this.maxDeletedId) this.maxDeletedId = id
    return true
  }

  /** Remove entries from the first on. */
  removeFirst(count: number): void {
    for (let left = count; left > 0; left -= 1) this.#remove(this.#entries.first()![0])
  }

  /** How many entries are below an id. */
  countBelow(id: bigint): number {
    return this.#entries.rankOf(id)
  }

  /** Up to `count` entries from an id up to another, both included, or backwards from the last. */
  range(start: bigint, end: bigint, options: RangeOptions = {}): StreamEntry[] {
    const { count = Infinity, isReverse = false } = options
    const found: StreamEntry[] = []
    const cursor = this.#entries.cursor({ from: isReverse ? end : start, reverse: isReverse })
    while (found.length < count && cursor.next()) {
      const { key, value } = cursor
      if (isReverse ? key < start : key > end) break
      found.push([key, value])
    }
    return found
  }

  /** True if an entry from `start` on was deleted that had others before it: the count of entries has a gap. */
  hasGapsFrom(start: bigint): boolean {
    const firstId = this.first?.[0]
    return firstId !== undefined && firstId <= this.maxDeletedId && start <= this.maxDeletedId
  }

  /** How many entries were added up to an id; undefined if it cannot be known. As Redis estimates it. */
  addedUpTo(id: bigint): number | undefined {
    if (this.entriesAdded === 0) return 0
    if (id === this.lastId || (this.size === 0 && id < this.lastId)) return this.entriesAdded
    const firstId = this.first?.[0] ?? 0n
    if (id > this.lastId || (this.maxDeletedId !== 0n && this.maxDeletedId >= firstId)) return undefined
    if (id < firstId) return this.entriesAdded - this.size
    return id === firstId ? this.entriesAdded - this.size + 1 : undefined
  }

  /** How many entries a group has still to read; undefined if it cannot be known. */
  lagOf({ lastId, entriesRead }: StreamGroup): number | undefined {
    if (this.entriesAdded === 0) return 0
    const read = entriesRead !== undefined && !this.hasGapsFrom(lastId) ? entriesRead : this.addedUpTo(lastId)
    return read === undefined ? undefined : this.entriesAdded - read
  }

  encode(writer: SnapshotWriter): void {
    this.#encodeHead(writer)
    for (const entry of this.#entries) encodeEntry(writer, entry)
    this.#encodeGroups(writer)
  }

  /** Its groups, and what was delivered and not acknowledged, are noted in its first step. */
  *encodeParts(writer: SnapshotWriter): Generator<undefined> {
    const [head, groups] = [new SnapshotWriter(), new SnapshotWriter()]
    this.#encodeHead(head)
    this.#encodeGroups(groups)
    const kept: KeptEntries = { writtenId: -1n, lastId: this.last?.[0] ?? -1n, gone: [], come: new Set() }
    this.#kept = kept
    try {
      yield
      for (const chunk of head.takeAll()) writer.append(chunk)
      const cursor = this.#entries.cursor()
      for (; cursor.next() && cursor.key <= kept.lastId; yield) {
        if (!kept.come.has(cursor.key)) encodeEntry(writer, [cursor.key, cursor.value])
        kept.writtenId = cursor.key
      }
      // Whatever goes from here on was written.
      kept.writtenId = kept.lastId
      for (const entry of kept.gone) {
        encodeEntry(writer, entry)
        yield
      }
      for (const chunk of groups.takeAll()) writer.append(chunk)
    } finally {
      this.#kept = undefined
    }
  }

  #encodeHead(writer: SnapshotWriter): void {
    writer.text(this.lastId.toString(16))
    writer.text(this.maxDeletedId.toString(16))
    writer.f64(this.entriesAdded)
    writer.count(this.size)
  }

  #encodeGroups(writer: SnapshotWriter): void {
    writer.count(this.#groups.size)
    for (const group of this.#groups.values()) group.encode(writer)
  }

  static decode(reader: SnapshotReader): StreamValue {
    const stream = new StreamValue()
    stream.lastId = readId(reader)
    stream.maxDeletedId = readId(reader)
    stream.entriesAdded = reader.finite()
    for (let left = reader.count(); left > 0; left -= 1) {
      const id = readId(reader)
      const fields: string[] = []
      for (let texts = reader.count(); texts > 0; texts -= 1) fields.push(reader.text())
      stream.#insert(id, fields)
    }
    for (let left = reader.count(); left > 0; left -= 1) stream.addGroup(StreamGroup.decode(reader))
    return stream
  }

  #insert(id: bigint, fields: StreamFields): void {
    this.#entries.set(id, fields)
    this.#entriesBytes += bytesOfEntry(fields)
    const kept = this.#kept
    if (kept !== undefined && id > kept.writtenId && id <= kept.lastId) kept.come.add(id)
  }

  #remove(id: bigint): boolean {
    const fields = this.#entries.get(id)
    if (fields === undefined) return false
    this.#entriesBytes -= bytesOfEntry(fields)
    const kept = this.#kept
    if (kept !== undefined && id > kept.writtenId && id <= kept.lastId && !kept.come.delete(id))
      kept.gone.push([id, fields])
    return this.#entries.delete(id)
  }
}

function encodeEntry(writer: SnapshotWriter, [id, fields]: StreamEntry): void {
  writer.text(id.toString(16))
  writer.count(fields.length)
  for (const text of fields) writer.text(text)
}

function bytesOfEntry(fields: StreamFields): number {
  let bytes = ENTRY_BYTES + fields.length * FIELD_BYTES
  for (const text of fields) bytes += text.length
  return bytes
}

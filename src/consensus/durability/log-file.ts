import { Buffer } from 'node:buffer'
import fs from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { ClosedError } from '../../native/index.ts'
import type { AcceptedEntry } from '../replica/cell.ts'
import type { AppendPolicy } from './append-policy.ts'
import { damaged, isFull, type LogDirectory, otherVersion, writeAll } from './log-directory.ts'
import {
  checksumPayloads,
  contentsOf,
  promiseOf,
  type RecordsSummary,
  recordLengthOf,
  SEGMENT_HEAD_BYTES,
  SEGMENT_VERSION,
  type SegmentContents,
  sealRecords,
  segmentHead,
  segmentName,
  segmentNumbers,
  versionIn,
  writeRecord,
} from './log-segment.ts'

/** A segment of this length is followed by another. */
const SEGMENT_BYTES = 2 ** 26
/**
 * How many zeros are written behind the records when they reach the end of the file. Records that take the place of
 * zeros change neither the length of the file nor where it lies, so a sync has to write nothing else.
 */
const ZEROS_BYTES = 2 ** 20
/** How long what was written may wait for a sync by `everysec`. */
const SYNC_MS = 1000

export interface LogFileOptions {
  /** Default `always`. */
  readonly append?: AppendPolicy
  readonly segmentBytes?: number
}

/** A file of the log that is there. */
interface Segment {
  readonly number: number
  /** The highest index in it. */
  lastIndex: number
  /** The highest term in it that was promised, or in which an entry was accepted. */
  promise: number
}

/** What was appended, but is not on the disk. */
interface Gathered extends RecordsSummary {
  readonly bytes: Buffer
}

/** What a log held when it was opened. */
export interface LogContents {
  /** The highest term that was promised, or in which an entry was accepted. */
  readonly promise: number
  /** The highest index that any entry says is decided. */
  readonly decided: number
  /** The last entry of each index, by index. */
  readonly entries: readonly AcceptedEntry[]
  /** It was never truncated. */
  readonly isFromStart: boolean
}

/**
 * What an acceptor promised and accepted, on a disk, in that order. An entry replaces an earlier one of the same index.
 *
 * ```
 *  <directory>/0000000001.log, 0000000002.log, …   segments; records are appended to the last one
 * ```
 *
 * What could not be written to a full disk stays in memory.
 */
export class LogFile implements AsyncDisposable {
  readonly #directory: LogDirectory
  readonly #segmentBytes: number
  readonly #append: AppendPolicy
  #segments: Segment[] = []
  /** The last segment, how much of it is written, and how much of that is on the disk. */
  #file: FileHandle | undefined
  #writtenBytes = 0
  #syncedBytes = 0
  /** The length of that file: zeros follow on the records. */
  #fileBytes = 0
  #hasZeros = true
  #gathered: Gathered[] = []
  #promised = 0
  #closed = false
  /** Settles when all that was begun has ended. */
  #turn: Promise<unknown> = Promise.resolve()
  /** A sync that has not begun. */
  #nextSync: Promise<void> | undefined
  /** By which what was written is brought to the disk later. */
  #syncer: NodeJS.Timeout | undefined

  private constructor(
    directory: LogDirectory,
    { append = 'always', segmentBytes = SEGMENT_BYTES }: LogFileOptions = {},
  ) {
    this.#directory = directory
    this.#append = append
    // Each has room for a record.
    this.#segmentBytes = Math.max(segmentBytes, SEGMENT_HEAD_BYTES + 1)
  }

  /**
   * Open a log and read it. A record that a crash has cut off, and those after it, are removed: no sync that covered
   * them has ended.
   * @throws ConsensusError
   */
  static async open(
    directory: LogDirectory,
    options?: LogFileOptions,
  ): Promise<LogContents & { readonly log: LogFile }> {
    const log = new LogFile(directory, options)
    try {
      return { log, ...(await log.#recover()) }
    } catch (error) {
      await log.#file?.close()
      throw error
    }
  }

  /** The highest term of all that was ever appended and read. */
  get promised(): number {
    return this.#promised
  }

  /** Append an entry. It is in the log when a {@link sync} called after this has ended. */
  append(entry: AcceptedEntry): void {
    const record = Buffer.allocUnsafe(recordLengthOf(entry))
    writeRecord(record, 0, entry)
    this.appendRecords(record)
  }

  /** Append that no lower term is promised any more. */
  promise(term: number): void {
    this.append(promiseOf(term))
  }

  /** Append records, one behind the other. The memory is the log's from now on. */
  appendRecords(bytes: Buffer): RecordsSummary {
    this.#check()
    const summary = checksumPayloads(bytes)
    this.#promised = Math.max(this.#promised, summary.promise)
    this.#gathered.push({ ...summary, bytes })
    return summary
  }

  /**
   * Wait until all that was appended is written, and by `always` on the disk. Calls at the same time share one
   * fdatasync(2).
   * @throws ConsensusError: after `ERR_AETHER_CONSENSUS_LOG_FULL` it may be called again.
   */
  sync(): Promise<void> {
    this.#nextSync ??= this.#inTurn(() => {
      this.#nextSync = undefined
      return this.#flush()
    })
    return this.#nextSync
  }

  /**
   * Remove segments that hold nothing but entries before `index`, and no term above `promise`: something else on the
   * disk holds these entries and that promise. Some such entries stay, and are read again.
   */
  truncateBefore(index: number, promise: number): Promise<void> {
    return this.#inTurn(async () => {
      while (this.#segments.length > 1) {
        const [segment] = this.#segments as [Segment]
        if (segment.lastIndex >= index || segment.promise > promise) return
        // One by one, so that no crash leaves a gap.
        await this.#directory.remove(segmentName(segment.number))
        this.#segments.shift()
      }
    })
  }

  /** Remove all of it, from the last segment to the first, and close. A crash leaves a log that is cut behind. */
  async remove(): Promise<void> {
    await this.close()
    for (const { number } of this.#segments.reverse()) await this.#directory.remove(segmentName(number))
  }

  /** What was appended, but not synced, is not on the disk. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#syncer)
    await this.#turn
    const file = this.#file
    this.#file = undefined
    // Zeros would do no harm.
    if (file !== undefined && this.#gathered.length === 0 && this.#fileBytes > this.#writtenBytes)
      await file.truncate(this.#writtenBytes).catch(() => {})
    if (this.#syncedBytes < this.#writtenBytes) await file?.datasync().catch(() => {})
    await file?.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #check(): void {
    if (this.#closed) throw new ClosedError(`the log ${this.#directory.path}`)
    this.#directory.check()
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(() => {
      this.#check()
      return act()
    })
    this.#turn = result.catch(() => {})
    return result
  }

  async #flush(): Promise<void> {
    const directory = this.#directory
    while (this.#gathered.length > 0) {
      if (this.#writtenBytes >= this.#segmentBytes) await this.#roll(this.#segments.at(-1)!.number + 1)
      const path = this.#pathOf(this.#segments.at(-1)!.number)
      const { count, bytes } = this.#batch()
      const { fd } = this.#file!
      // This thread has nothing else to do, and to hand calls to others takes longer than many a disk.
      directory.now(path, () => writeAllNow(fd, bytes, this.#writtenBytes))
      const endBytes = this.#writtenBytes + bytes.length
      if (endBytes > this.#fileBytes) directory.now(path, () => this.#writeZeros(fd, endBytes))
      if (this.#append === 'always') this.#syncNow(path, fd, endBytes)
      this.#writtenBytes = endBytes
      this.#gathered.splice(0, count)
    }
    if (this.#append === 'everysec' && this.#syncedBytes < this.#writtenBytes)
      this.#syncer ??= setTimeout(() => void this.#syncAside(), SYNC_MS)
  }

  #syncNow(path: string, fd: number, endBytes: number): void {
    this.#directory.syncedNow(path, () => fs.fdatasyncSync(fd))
    this.#syncedBytes = endBytes
  }

  /** More may be written meanwhile. If it fails, the directory refuses whatever comes next. */
  async #syncAside(): Promise<void> {
    const { number } = this.#segments.at(-1)!
    const file = this.#file
    const endBytes = this.#writtenBytes
    if (file === undefined) return
    const isDone = await this.#directory.synced(this.#pathOf(number), file.datasync()).then(
      () => true,
      () => false,
    )
    this.#syncer = undefined
    if (!isDone || this.#closed) return
    if (this.#segments.at(-1)!.number === number) this.#syncedBytes = Math.max(this.#syncedBytes, endBytes)
    if (this.#syncedBytes < this.#writtenBytes) this.#syncer = setTimeout(() => void this.#syncAside(), SYNC_MS)
  }

  /** Up to the end of the segment at most. Where there is no room for them, this segment grows with its records. */
  #writeZeros(fd: number, at: number): void {
    this.#fileBytes = at
    const length = Math.min(ZEROS_BYTES, this.#segmentBytes - at)
    if (length <= 0 || !this.#hasZeros) return
    try {
      writeAllNow(fd, Buffer.alloc(length), at)
      this.#fileBytes = at + length
    } catch (cause) {
      if (!isFull(cause)) throw cause
      this.#hasZeros = false
      // A snapshot may need the room.
      fs.ftruncateSync(fd, at)
    }
  }

  /** As much as the segment takes. Tried again, the bytes begin in the same way. */
  #batch(): { readonly count: number; readonly bytes: Buffer } {
    const segment = this.#segments.at(-1)!
    const parts: Buffer[] = []
    let lengthBytes = 0
    for (const { bytes, lastIndex, promise } of this.#gathered) {
      if (this.#writtenBytes + lengthBytes >= this.#segmentBytes) break
      sealRecords(bytes, this.#syncedBytes)
      parts.push(bytes)
      lengthBytes += bytes.length
      segment.lastIndex = Math.max(segment.lastIndex, lastIndex)
      segment.promise = Math.max(segment.promise, promise)
    }
    return { count: parts.length, bytes: parts.length === 1 ? parts[0]! : Buffer.concat(parts, lengthBytes) }
  }

  /** Begin a segment. All of the one before it is on the disk. */
  async #roll(number: number): Promise<void> {
    const path = this.#pathOf(number)
    const before = this.#file
    if (before !== undefined && this.#syncedBytes < this.#writtenBytes)
      this.#syncNow(this.#pathOf(number - 1), before.fd, this.#writtenBytes)
    await this.#directory.write(segmentName(number), [segmentHead(number)])
    this.#file = await this.#directory.disk(path, open(path, 'r+'))
    this.#segments.push({ number, lastIndex: 0, promise: 0 })
    this.#writtenBytes = SEGMENT_HEAD_BYTES
    this.#syncedBytes = SEGMENT_HEAD_BYTES
    this.#fileBytes = SEGMENT_HEAD_BYTES
    this.#hasZeros = true
    // The last, since a sync aside may begin meanwhile, and must not be of a file that is closed.
    await before?.close()
  }

  async #recover(): Promise<LogContents> {
    const entries = new Map<number, AcceptedEntry>()
    const numbers = segmentNumbers(await this.#directory.names())
    let decided = 0
    for (const [at, number] of numbers.entries())
      for (const record of await this.#recoverSegment(number, at === numbers.length - 1)) {
        if (record.index > 0) entries.set(record.index, record)
        decided = Math.max(decided, record.decided)
      }
    if (this.#file === undefined) await this.#roll(1)
    return {
      promise: this.#promised,
      decided,
      entries: [...entries.values()].sort((one, other) => one.index - other.index),
      isFromStart: this.#segments[0]!.number === 1,
    }
  }

  async #recoverSegment(number: number, isLast: boolean): Promise<readonly AcceptedEntry[]> {
    const path = this.#pathOf(number)
    const expected = (this.#segments.at(-1)?.number ?? number - 1) + 1
    const bytes = number === expected ? await this.#directory.read(segmentName(number)) : undefined
    if (bytes === undefined) throw damaged(this.#pathOf(expected), 0, 'the file is missing')
    const version = versionIn(bytes, number)
    if (version === undefined) {
      // A crash came before anything was in it.
      if (!isLast || bytes.length > SEGMENT_HEAD_BYTES) throw damaged(path, 0, 'its head is wrong')
      await this.#roll(number)
      return []
    }
    if (version !== SEGMENT_VERSION) throw otherVersion(path, version, SEGMENT_VERSION)
    const contents = contentsOf(bytes)
    if (contents.isDamaged || (!isLast && contents.endBytes < bytes.length))
      throw damaged(path, contents.endBytes, 'a record is not what was written')
    const segment = { number, lastIndex: 0, promise: 0 }
    for (const { index, acceptedIn } of contents.records) {
      segment.lastIndex = Math.max(segment.lastIndex, index)
      segment.promise = Math.max(segment.promise, acceptedIn)
    }
    this.#promised = Math.max(this.#promised, segment.promise)
    this.#segments.push(segment)
    if (isLast) await this.#goOnWith(path, bytes, contents)
    return contents.records
  }

  /**
   * Append to what is there. Its last batch may not be on the disk, even though it is read: its sync may have failed in
   * an earlier process, and then another sync has nothing to write. So it is written again first.
   */
  async #goOnWith(path: string, bytes: Buffer, { durableBytes, endBytes }: SegmentContents): Promise<void> {
    const directory = this.#directory
    const file = await directory.disk(path, open(path, 'r+'))
    this.#file = file
    await directory.disk(path, writeAll(file, bytes.subarray(durableBytes, endBytes), durableBytes))
    await directory.disk(path, file.truncate(endBytes))
    await directory.synced(path, file.sync())
    await directory.sync()
    this.#writtenBytes = endBytes
    this.#syncedBytes = endBytes
    this.#fileBytes = endBytes
  }

  #pathOf(number: number): string {
    return this.#directory.pathOf(segmentName(number))
  }
}

function writeAllNow(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) done += fs.writeSync(fd, bytes, done, bytes.length - done, position + done)
}

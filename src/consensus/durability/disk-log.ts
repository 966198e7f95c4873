import type { Buffer } from 'node:buffer'
import { type AcceptedEntry, EntryFlag } from '../replica/cell.ts'
import type { Recovered, SnapshotHead } from '../replica/journal.ts'
import { IDENTITY_FILE, type Identity, readIdentity, writeIdentity } from './identity.ts'
import { damaged, LogDirectory } from './log-directory.ts'
import { type LogContents, LogFile, type LogFileOptions } from './log-file.ts'
import { segmentNumbers } from './log-segment.ts'
import { readSnapshotFile, SNAPSHOT_FILE, type StoredSnapshot, writeSnapshotFile } from './snapshot-file.ts'

/**
 * All that a replica has on a disk.
 *
 * ```
 *  <directory>/lock           locked while it is open
 *  <directory>/identity       whose directory it is; written before anything else
 *  <directory>/snapshot       the last snapshot, and the promise that held then
 *  <directory>/*.log          what was promised and accepted
 *  <directory>/*.new          an identity or snapshot that is not whole
 * ```
 *
 * No crash makes it forget a promise, or an entry that was on the disk:
 *
 * 1. A promise is a record of the log, so it is there after a sync. Only {@link writeSnapshot} removes records.
 * 2. Until the new snapshot has its name on the disk, no segment is removed. A crash leaves the old or the new one,
 *    either with all segments.
 * 3. The new snapshot says what was promised. A segment with a higher term stays, and so does one with an entry behind
 *    the snapshot. What is removed is thus in the snapshot.
 * 4. Segments are removed from the first on, each on the disk before the next. A crash leaves the later ones, without
 *    a gap, behind a snapshot that stands for the others.
 */
export class DiskLog implements AsyncDisposable {
  /** Of the replica. */
  readonly id: number
  readonly #directory: LogDirectory
  readonly #log: LogFile
  /** Where the snapshot was taken. */
  #snapshotIndex: number
  /** The highest promise of what was there when this was opened. */
  readonly #recoveredPromise: number
  /** The highest index that any record said is decided. */
  #decided: number
  /** All entries up to this one are in the snapshot, or in the log. */
  #whole: number
  /** Entries behind a gap. */
  #beyond = new Set<number>()

  private constructor(directory: LogDirectory, { id }: Identity, log: LogFile, recovered: Recovered) {
    this.#directory = directory
    this.id = id
    this.#log = log
    this.#snapshotIndex = recovered.snapshot?.head.index ?? 0
    this.#recoveredPromise = recovered.promise
    this.#decided = recovered.decided
    this.#whole = this.#snapshotIndex
    for (const { index } of recovered.entries) this.#has(index)
  }

  /**
   * Open what the replica of the machine `name` has in that directory, which is made if it is not there.
   *
   * Where no configuration is decided, nothing was ever acknowledged through this replica. It begins as a new one, with
   * an id that no one has met. Segments are removed from the last on: those that a crash leaves decide no more than all
   * did. The identity is the last, since files without one are damaged.
   * @throws ConsensusError
   */
  static async open(
    path: string,
    name: string,
    options?: LogFileOptions,
  ): Promise<{ readonly disk: DiskLog; readonly recovered: Recovered }> {
    const directory = await LogDirectory.open(path)
    try {
      await directory.removeUnfinished([IDENTITY_FILE, SNAPSHOT_FILE])
      const identity = (await readIdentity(directory, name)) ?? (await firstIdentity(directory, name))
      const { log, ...contents } = await LogFile.open(directory, options)
      try {
        const snapshot = await readSnapshotFile(directory)
        const recovered = recoveredFrom(directory, contents, snapshot)
        if (recovered !== undefined) return { disk: new DiskLog(directory, identity, log, recovered), recovered }
        await log.remove()
      } catch (error) {
        await log.close()
        throw error
      }
      await directory.remove(IDENTITY_FILE)
      const another = await writeIdentity(directory, name)
      const disk = new DiskLog(directory, another, (await LogFile.open(directory, options)).log, NOTHING)
      return { disk, recovered: NOTHING }
    } catch (error) {
      await directory.close()
      throw error
    }
  }

  /** Append records as `log-segment.ts` has them, one behind the other. Returns how many they are. */
  append(records: Buffer): number {
    const { indexes, decided } = this.#log.appendRecords(records)
    this.#decided = Math.max(this.#decided, decided)
    for (const index of indexes) this.#has(index)
    return indexes.length
  }

  /**
   * Whether the log has all entries up to this one that the last snapshot has not, and knows that they are decided. One
   * that is not may be another than the one in a snapshot of that index.
   */
  holds(index: number): boolean {
    return index <= this.#whole && index <= this.#decided
  }

  /**
   * Wait until all that was appended is on the disk.
   * @throws ConsensusError: after `ERR_AETHER_CONSENSUS_LOG_FULL` it may be called again.
   */
  sync(): Promise<void> {
    return this.#log.sync()
  }

  /**
   * Let a snapshot take the place of all entries up to its index. Others may be appended and synced meanwhile, if the
   * log {@link holds} those up to there. Else a crash could leave them without what they follow on.
   * @throws ConsensusError: after `ERR_AETHER_CONSENSUS_LOG_FULL` it may be called again.
   */
  async writeSnapshot({ index, term, configuration }: SnapshotHead, ...parts: readonly Uint8Array[]): Promise<void> {
    // A later one stands for more.
    if (index < this.#snapshotIndex) return
    const promise = Math.max(this.#recoveredPromise, this.#log.promised)
    await writeSnapshotFile(this.#directory, { head: { index, term, configuration, promise }, bytes: parts })
    this.#snapshotIndex = index
    this.#whole = Math.max(this.#whole, index)
    for (const beyond of this.#beyond) this.#has(beyond)
    await this.#log.truncateBefore(index + 1, promise)
  }

  #has(index: number): void {
    if (index > this.#whole) this.#beyond.add(index)
    else this.#beyond.delete(index)
    while (this.#beyond.delete(this.#whole + 1)) this.#whole += 1
  }

  async close(): Promise<void> {
    await this.#log.close()
    await this.#directory.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

const PIECE_BYTES = 2 ** 20
const NOTHING: Recovered = { promise: 0, decided: 0, snapshot: undefined, entries: [] }

async function firstIdentity(directory: LogDirectory, name: string): Promise<Identity> {
  const names = await directory.names()
  if (segmentNumbers(names).length > 0 || names.includes(SNAPSHOT_FILE))
    throw damaged(directory.pathOf(IDENTITY_FILE), undefined, 'the file is missing')
  return await writeIdentity(directory, name)
}

/** Undefined where no configuration is decided. @throws ConsensusError if something is missing. */
function recoveredFrom(
  directory: LogDirectory,
  log: LogContents,
  snapshot: StoredSnapshot | undefined,
): Recovered | undefined {
  const isConfigured = (entry: AcceptedEntry) =>
    (entry.flags & EntryFlag.Configuration) !== 0 && entry.index <= log.decided
  if (snapshot === undefined) {
    if (!log.isFromStart) throw damaged(directory.pathOf(SNAPSHOT_FILE), undefined, 'the file is missing')
    if (!log.entries.some(isConfigured)) return undefined
  }
  const base = snapshot?.head.index ?? 0
  const decided = Math.max(base, log.decided)
  const entries = log.entries.filter(({ index }) => index > base)
  for (let index = base + 1; index <= decided; index += 1)
    if (entries[index - base - 1]?.index !== index)
      throw damaged(directory.path, undefined, `entry ${index} is missing, and entries up to ${decided} are decided`)
  return {
    promise: Math.max(log.promise, snapshot?.head.promise ?? 0),
    decided,
    snapshot,
    entries: withoutSegments(entries),
  }
}

/**
 * Put the payloads into memory of their own, so that of the segments need not stay. It is in pieces: the last entries
 * stay in memory for those that lag behind, and keep no more than they need.
 */
function withoutSegments(entries: readonly AcceptedEntry[]): AcceptedEntry[] {
  let memory = new Uint8Array()
  let at = 0
  return entries.map((entry) => {
    if (memory.length - at < entry.payload.length) {
      memory = new Uint8Array(Math.max(PIECE_BYTES, entry.payload.length))
      at = 0
    }
    const payload = memory.subarray(at, at + entry.payload.length)
    payload.set(entry.payload)
    at += payload.length
    return { ...entry, payload }
  })
}

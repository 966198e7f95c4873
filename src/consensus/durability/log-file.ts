import { Buffer } from 'node:buffer'
import { type FileHandle, open, readdir, readFile, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ClosedError, DefectError, native } from '../../native/index.ts'
import { ConsensusError } from '../errors.ts'
import type { Entry } from '../machine/applier.ts'
import {
  contentsOf,
  encodeEntry,
  SEGMENT_HEAD_BYTES,
  SEGMENT_VERSION,
  type SegmentContents,
  segmentHead,
  versionIn,
} from './log-segment.ts'
import { CHUNK_HEAD_BYTES, chunkLengthOf } from '../machine/snapshot.ts'

/** A segment of this length is followed by another. */
const SEGMENT_BYTES = 2 ** 26

/** So that a segment can be read at once. */
const PAYLOAD_BYTES_MAX = 2 ** 30

/** A file of the log that is there. */
interface Segment {
  readonly number: number
  /** The highest index in it. */
  lastIndex: number
}

/**
 * Entries on a disk, in the order in which they were appended. An entry replaces an earlier one of the same index.
 *
 * ```
 *  <directory>/0000000001.log, 0000000002.log, …   segments; entries are appended to the last one
 *  <directory>/snapshot                            the chunks of the last snapshot; snapshot.new until it is whole
 *  <directory>/lock                                locked (flock) while the log is open
 * ```
 *
 * A sync that failed is never tried again: the kernel may have dropped the pages and would report success. So after
 * one the log refuses all further use. A full disk is another matter: what could not be written stays in memory.
 */
export class LogFile implements AsyncDisposable {
  readonly directory: string
  readonly #segmentBytes: number
  readonly #lock: FileHandle
  #segments: Segment[] = []
  /** The last segment, and how much of it is on the disk. */
  #file: FileHandle | undefined
  #durableBytes = 0
  /** Appended, but not on the disk. */
  #gathered: Entry[] = []
  #failure: Error | undefined
  /** Settles when all that was begun has ended. */
  #turn: Promise<unknown> = Promise.resolve()
  /** A sync that has not begun. */
  #nextSync: Promise<void> | undefined

  private constructor(directory: string, segmentBytes: number, lock: FileHandle) {
    this.directory = directory
    // Each has room for an entry.
    this.#segmentBytes = Math.max(segmentBytes, SEGMENT_HEAD_BYTES + 1)
    this.#lock = lock
  }

  /**
   * Open a log and read it: the last entry of each index, by index. The directory must exist. An entry that a crash
   * has cut off, and those after it, are removed: no sync that covered them has ended.
   * @throws ConsensusError
   */
  static async open(
    directory: string,
    { segmentBytes = SEGMENT_BYTES }: { readonly segmentBytes?: number } = {},
  ): Promise<{ readonly log: LogFile; readonly entries: readonly Entry[] }> {
    const log = new LogFile(directory, segmentBytes, await lockOf(directory))
    try {
      return { log, entries: await log.#recover() }
    } catch (error) {
      await log.#closeFiles()
      throw error
    }
  }

  /** Append an entry. It is on the disk when a {@link sync} called after this has ended. */
  append(entry: Entry): void {
    this.#check()
    if (entry.payload.length > PAYLOAD_BYTES_MAX) throw new DefectError(`an entry of ${entry.payload.length} bytes`)
    this.#gathered.push({ ...entry, payload: Uint8Array.prototype.slice.call(entry.payload) })
  }

  /**
   * Wait until all that was appended is on the disk. Calls at the same time share one fdatasync(2).
   * @throws ConsensusError: after `ERR_AETHER_CONSENSUS_LOG_FULL` it may be called again.
   */
  sync(): Promise<void> {
    this.#nextSync ??= this.#inTurn(() => {
      this.#nextSync = undefined
      return this.#flush()
    })
    return this.#nextSync
  }

  /** Remove segments all of whose entries are before `index`. Some such entries stay, and are read again. */
  truncateBefore(index: number): Promise<void> {
    return this.#inTurn(async () => {
      while (this.#segments.length > 1 && this.#segments[0]!.lastIndex < index) {
        const path = this.#pathOf(this.#segments[0]!.number)
        await this.#disk(path, unlink(path))
        // One by one, so that no crash leaves a gap.
        await this.#syncDirectory()
        this.#segments.shift()
      }
    })
  }

  /** Replace the snapshot. The old one stays until the new one is on the disk. @throws ConsensusError */
  writeSnapshot(chunks: readonly Uint8Array[]): Promise<void> {
    return this.#inTurn(async () => {
      const path = join(this.directory, 'snapshot')
      const newPath = `${path}.new`
      await this.#writeFile(newPath, chunks).catch(async (error) => {
        await unlink(newPath).catch(() => {})
        throw error
      })
      await this.#disk(path, rename(newPath, path))
      await this.#syncDirectory()
    })
  }

  /** The chunks of the snapshot; undefined if there is none. Compare checksums with `restoreSnapshot`. */
  readSnapshot(): Promise<Uint8Array[] | undefined> {
    return this.#inTurn(async () => {
      const path = join(this.directory, 'snapshot')
      const file = await open(path).catch((cause) => {
        if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw this.#failed(path, cause)
      })
      if (file === undefined) return undefined
      try {
        return await this.#chunksIn(path, file)
      } finally {
        await file.close()
      }
    })
  }

  /** What was appended, but not synced, is not on the disk. */
  async close(): Promise<void> {
    this.#failure ??= new ClosedError(`the log ${this.directory}`)
    await this.#turn
    await this.#closeFiles()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure
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
    while (this.#gathered.length > 0) {
      if (this.#durableBytes >= this.#segmentBytes) await this.#roll(this.#segments.at(-1)!.number + 1)
      const path = this.#pathOf(this.#segments.at(-1)!.number)
      const { entries, bytes } = this.#batch()
      await this.#disk(path, writeAll(this.#file!, bytes, this.#durableBytes))
      await this.#synced(path, this.#file!.datasync())
      this.#durableBytes += bytes.length
      this.#gathered.splice(0, entries)
    }
  }

  /** As many entries as the segment takes. Tried again, the bytes begin in the same way. */
  #batch(): { readonly entries: number; readonly bytes: Buffer } {
    const segment = this.#segments.at(-1)!
    const parts: Buffer[] = []
    let [entries, lengthBytes] = [0, 0]
    for (const entry of this.#gathered) {
      if (this.#durableBytes + lengthBytes >= this.#segmentBytes) break
      const [head, payload] = encodeEntry(entry, this.#durableBytes) as [Buffer, Buffer]
      parts.push(head, payload)
      lengthBytes += head.length + payload.length
      entries += 1
      segment.lastIndex = Math.max(segment.lastIndex, entry.index)
    }
    return { entries, bytes: Buffer.concat(parts, lengthBytes) }
  }

  /** Begin a segment. All of the one before it is on the disk. */
  async #roll(number: number): Promise<void> {
    const path = this.#pathOf(number)
    await this.#writeFile(path, [segmentHead(number)])
    await this.#syncDirectory()
    const file = await this.#disk(path, open(path, 'r+'))
    await this.#file?.close()
    this.#file = file
    this.#segments.push({ number, lastIndex: 0 })
    this.#durableBytes = SEGMENT_HEAD_BYTES
  }

  /** @returns the last entry of each index, by index. */
  async #recover(): Promise<Entry[]> {
    const entries = new Map<number, Entry>()
    const names = await this.#disk(this.directory, readdir(this.directory))
    const numbers = names.filter((name) => /^\d{10}\.log$/.test(name)).map((name) => Number.parseInt(name, 10))
    numbers.sort((one, other) => one - other)
    for (const [at, number] of numbers.entries()) await this.#recoverSegment(number, at === numbers.length - 1, entries)
    if (this.#file === undefined) await this.#roll(1)
    return [...entries.values()].sort((one, other) => one.index - other.index)
  }

  async #recoverSegment(number: number, isLast: boolean, entries: Map<number, Entry>): Promise<void> {
    const path = this.#pathOf(number)
    const before = this.#segments.at(-1)?.number
    if (before !== undefined && number !== before + 1) throw damaged(this.#pathOf(before + 1), 0, 'the file is missing')
    const bytes = await this.#disk(path, readFile(path))
    const version = versionIn(bytes, number)
    if (version === undefined) {
      // A crash came before anything was in it.
      if (isLast && bytes.length <= SEGMENT_HEAD_BYTES) return await this.#roll(number)
      throw damaged(path, 0, 'its head is wrong')
    }
    if (version !== SEGMENT_VERSION) throw otherVersion(path, version)
    const contents = contentsOf(bytes)
    if (contents.isDamaged || (!isLast && contents.endBytes < bytes.length))
      throw damaged(path, contents.endBytes, 'an entry is not what was written')
    const segment = { number, lastIndex: 0 }
    for (const entry of contents.entries) {
      entries.set(entry.index, entry)
      segment.lastIndex = Math.max(segment.lastIndex, entry.index)
    }
    this.#segments.push(segment)
    if (isLast) await this.#goOnWith(path, bytes, contents)
  }

  /**
   * Append to what is there. Its last batch may not be on the disk, even though it is read: its sync may have failed in
   * an earlier process, and then another sync has nothing to write. So it is written again first.
   */
  async #goOnWith(path: string, bytes: Buffer, { durableBytes, endBytes }: SegmentContents): Promise<void> {
    const file = await this.#disk(path, open(path, 'r+'))
    this.#file = file
    await this.#disk(path, writeAll(file, bytes.subarray(durableBytes, endBytes), durableBytes))
    await this.#disk(path, file.truncate(endBytes))
    await this.#synced(path, file.sync())
    await this.#syncDirectory()
    this.#durableBytes = endBytes
  }

  /** Write a new file as a whole, and wait until it is on the disk. Its name may not be. */
  async #writeFile(path: string, parts: readonly Uint8Array[]): Promise<void> {
    const file = await this.#disk(path, open(path, 'w', 0o600))
    try {
      let at = 0
      for (const part of parts) {
        await this.#disk(path, writeAll(file, part, at))
        at += part.length
      }
      await this.#synced(path, file.sync())
    } finally {
      await file.close()
    }
  }

  async #chunksIn(path: string, file: FileHandle): Promise<Uint8Array[]> {
    const { size } = await this.#disk(path, file.stat())
    const chunks: Uint8Array[] = []
    for (let at = 0; at < size; ) {
      const head = await this.#read(path, file, at, CHUNK_HEAD_BYTES)
      const chunk = await this.#read(path, file, at, chunkLengthOf(head))
      chunks.push(chunk)
      at += chunk.length
    }
    return chunks
  }

  /** @throws ConsensusError if there is less. */
  async #read(path: string, file: FileHandle, position: number, lengthBytes: number): Promise<Buffer> {
    const { size } = await this.#disk(path, file.stat())
    if (position + lengthBytes > size) throw damaged(path, position, 'it is cut off')
    const bytes = Buffer.allocUnsafeSlow(lengthBytes)
    for (let have = 0; have < lengthBytes; ) {
      const { bytesRead } = await this.#disk(path, file.read(bytes, have, lengthBytes - have, position + have))
      if (bytesRead === 0) throw damaged(path, position, 'it became shorter')
      have += bytesRead
    }
    return bytes
  }

  async #syncDirectory(): Promise<void> {
    const directory = await this.#disk(this.directory, open(this.directory, 'r'))
    try {
      await this.#synced(this.directory, directory.sync())
    } finally {
      await directory.close()
    }
  }

  async #disk<T>(path: string, call: Promise<T>): Promise<T> {
    try {
      return await call
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code === 'ENOSPC' || code === 'EDQUOT') throw full(path, cause)
      throw this.#failed(path, cause)
    }
  }

  /** After a failed sync nothing is known of what is on the disk, so a full disk is a failure here, too. */
  async #synced(path: string, call: Promise<void>): Promise<void> {
    try {
      await call
    } catch (cause) {
      throw this.#failed(path, cause)
    }
  }

  #failed(path: string, cause: unknown): Error {
    this.#failure ??= failure(path, cause)
    return this.#failure
  }

  async #closeFiles(): Promise<void> {
    await this.#file?.close()
    this.#file = undefined
    await this.#lock.close()
  }

  #pathOf(number: number): string {
    return join(this.directory, `${String(number).padStart(10, '0')}.log`)
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}

async function lockOf(directory: string): Promise<FileHandle> {
  const path = join(directory, 'lock')
  const file = await open(path, 'a', 0o600).catch((cause) => {
    throw failure(path, cause)
  })
  if (native.lockFile(file.fd, false)) return file
  await file.close()
  const what = `the log ${directory} is open already, here or in another process`
  throw new ConsensusError('LOG_IN_USE', `${what}; close it there, or give each replica a directory of its own`, {
    file: path,
  })
}

function full(path: string, cause: unknown): ConsensusError {
  const what = `${path} could not be written: ${(cause as Error).message}`
  return new ConsensusError('LOG_FULL', `${what}; free some space, then sync again`, { file: path, cause })
}

function failure(path: string, cause: unknown): ConsensusError {
  const what = `the disk failed at ${path}: ${(cause as Error).message}`
  return new ConsensusError('LOG_FAILED', `${what}; check the disk and the directory, then open the log again`, {
    file: path,
    cause,
  })
}

function damaged(path: string, offset: number, how: string): ConsensusError {
  const what = `${path} is damaged at byte ${offset}: ${how}`
  const message = `${what}; let a new replica, with a directory of its own, take the place of this one`
  return new ConsensusError('LOG_DAMAGED', message, { file: path, offset })
}

function otherVersion(path: string, version: number): ConsensusError {
  const what = `${path} has format ${version}, and this version of Aether reads format ${SEGMENT_VERSION}`
  return new ConsensusError('LOG_VERSION', `${what}; use the version that wrote it`, { file: path })
}

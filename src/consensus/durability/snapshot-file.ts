import { Buffer } from 'node:buffer'
import { type FileHandle, open } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { messageOfThrown } from '../../native/index.ts'
import {
  CHUNK_HEAD_BYTES,
  checksumOfHead,
  chunkHead,
  chunkHeadOf,
  chunkLengthOf,
  decodeChunk,
} from '../machine/snapshot.ts'
import type { SnapshotHead } from '../replica/journal.ts'
import { damaged, type LogDirectory } from './log-directory.ts'

/** The name of the file: two chunks, a {@link StoredSnapshotHead} as JSON and the bytes. */
export const SNAPSHOT_FILE = 'snapshot'

/** Of a chunk that are read at once. */
const PART_BYTES = 4 * 2 ** 20

/** What the file says of the snapshot, and of the acceptor that wrote it. */
interface StoredSnapshotHead extends SnapshotHead {
  /** The highest term that it had promised, or accepted anything in. */
  readonly promise: number
}

export interface StoredSnapshot {
  readonly head: StoredSnapshotHead
  readonly bytes: Uint8Array
}

interface WrittenSnapshot {
  readonly head: StoredSnapshotHead
  /** In one piece, or in parts. */
  readonly bytes: Uint8Array | readonly Uint8Array[]
}

/** Replace the snapshot. The old one stays until the new one is on the disk. @throws ConsensusError */
export async function writeSnapshotFile(directory: LogDirectory, { head, bytes }: WrittenSnapshot): Promise<void> {
  const json = Buffer.from(JSON.stringify(head))
  const parts = bytes instanceof Uint8Array ? [bytes] : bytes
  const headOfParts = await chunkHeadOf(1, parts, nextTurn)
  await directory.replace(SNAPSHOT_FILE, [chunkHead(0, json), json, headOfParts, ...parts])
}

/** The snapshot; undefined if there is none. @throws ConsensusError */
export async function readSnapshotFile(directory: LogDirectory): Promise<StoredSnapshot | undefined> {
  const path = directory.pathOf(SNAPSHOT_FILE)
  const opening = open(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause
    return undefined
  })
  const file = await directory.disk(path, opening)
  if (file === undefined) return undefined
  try {
    const reader = new ChunkReader(directory, path, file)
    const head = JSON.parse(Buffer.from(await reader.next()).toString()) as StoredSnapshotHead
    return { head, bytes: await reader.next() }
  } finally {
    await file.close()
  }
}

class ChunkReader {
  readonly #directory: LogDirectory
  readonly #path: string
  readonly #file: FileHandle
  #at = 0
  #chunks = 0

  constructor(directory: LogDirectory, path: string, file: FileHandle) {
    this.#directory = directory
    this.#path = path
    this.#file = file
  }

  /** The payload of the next chunk. A part of it is checksummed while the next one is read. @throws ConsensusError */
  async next(): Promise<Uint8Array> {
    const head = await this.#room(CHUNK_HEAD_BYTES)
    await this.#read(head, 0, head.length)
    const chunk = await this.#room(chunkLengthOf(head))
    chunk.set(head)
    let checksum = checksumOfHead(head)
    for (let have = head.length, checked = have; checked < chunk.length; ) {
      const end = Math.min(chunk.length, have + PART_BYTES)
      const reading = this.#read(chunk, have, end)
      checksum = crc32(chunk.subarray(checked, have), checksum)
      checked = have
      await reading
      have = end
    }
    const at = this.#at
    this.#at += chunk.length
    try {
      return decodeChunk(chunk, this.#chunks++, checksum)
    } catch (cause) {
      throw damaged(this.#path, at, messageOfThrown(cause))
    }
  }

  /** For bytes from where the chunk begins. @throws ConsensusError if there are fewer. */
  async #room(lengthBytes: number): Promise<Buffer> {
    const { size } = await this.#directory.disk(this.#path, this.#file.stat())
    if (this.#at + lengthBytes > size) throw damaged(this.#path, this.#at, 'it is cut off')
    return Buffer.allocUnsafeSlow(lengthBytes)
  }

  async #read(chunk: Buffer, begin: number, end: number): Promise<void> {
    for (let have = begin; have < end; ) {
      const call = this.#file.read(chunk, have, end - have, this.#at + have)
      const { bytesRead } = await this.#directory.disk(this.#path, call)
      if (bytesRead === 0) throw damaged(this.#path, this.#at, 'it became shorter')
      have += bytesRead
    }
  }
}

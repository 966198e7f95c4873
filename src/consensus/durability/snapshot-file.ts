import { Buffer } from 'node:buffer'
import { type FileHandle, open } from 'node:fs/promises'
import { messageOfThrown } from '../../native/index.ts'
import { CHUNK_HEAD_BYTES, chunkHead, chunkLengthOf, decodeChunk } from '../machine/snapshot.ts'
import type { SnapshotHead } from '../replica/journal.ts'
import { damaged, type LogDirectory } from './log-directory.ts'

/** The name of the file: two chunks, a {@link StoredSnapshotHead} as JSON and the bytes. */
export const SNAPSHOT_FILE = 'snapshot'

/** What the file says of the snapshot, and of the acceptor that wrote it. */
interface StoredSnapshotHead extends SnapshotHead {
  /** The highest term that it had promised, or accepted anything in. */
  readonly promise: number
}

export interface StoredSnapshot {
  readonly head: StoredSnapshotHead
  readonly bytes: Uint8Array
}

/** Replace the snapshot. The old one stays until the new one is on the disk. @throws ConsensusError */
export function writeSnapshotFile(directory: LogDirectory, { head, bytes }: StoredSnapshot): Promise<void> {
  const json = Buffer.from(JSON.stringify(head))
  return directory.replace(SNAPSHOT_FILE, [chunkHead(0, json), json, chunkHead(1, bytes), bytes])
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

  /** The payload of the next chunk. @throws ConsensusError */
  async next(): Promise<Uint8Array> {
    const chunk = await this.#read(chunkLengthOf(await this.#read(CHUNK_HEAD_BYTES)))
    const at = this.#at
    this.#at += chunk.length
    try {
      return decodeChunk(chunk, this.#chunks++)
    } catch (cause) {
      throw damaged(this.#path, at, messageOfThrown(cause))
    }
  }

  /** What begins where the chunk does. @throws ConsensusError if there is less. */
  async #read(lengthBytes: number): Promise<Buffer> {
    const { size } = await this.#directory.disk(this.#path, this.#file.stat())
    if (this.#at + lengthBytes > size) throw damaged(this.#path, this.#at, 'it is cut off')
    const bytes = Buffer.allocUnsafeSlow(lengthBytes)
    for (let have = 0; have < lengthBytes; ) {
      const call = this.#file.read(bytes, have, lengthBytes - have, this.#at + have)
      const { bytesRead } = await this.#directory.disk(this.#path, call)
      if (bytesRead === 0) throw damaged(this.#path, this.#at, 'it became shorter')
      have += bytesRead
    }
    return bytes
  }
}

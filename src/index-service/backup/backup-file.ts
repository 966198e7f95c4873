import { Buffer } from 'node:buffer'
import { type FileHandle, open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { NewFile } from '../../saving/index.ts'
import { IndexError } from '../errors.ts'

/**
 * A backup of an index. Numbers are little-endian.
 *
 * ```
 *  head     0 'AeIB'   4 version   8 shards   12 when it was begun (Float64)   20 CRC-32 of these 20 bytes
 *  part     0 length of the items   4 shard   8 CRC-32 of these 8 bytes and the items   12 items
 *  end      0 0   4 number of parts   8 CRC-32 of these 8 bytes
 * ```
 *
 * Parts of a shard come in order; those of several shards are mixed. Items are those of `state/backup-items.ts`.
 */
const MAGIC = 0x42496541
const VERSION = 1
const HEAD_BYTES = 24
const PART_HEAD_BYTES = 12

/** What the head of a backup says. */
export interface BackupHead {
  readonly shards: number
  readonly begunMs: number
}

/** Writes a backup, part by part. */
export class BackupWriter {
  readonly #file: NewFile
  #parts = 0
  /** Settles when all that was begun is written. */
  #turn: Promise<void> = Promise.resolve()

  constructor(file: NewFile) {
    this.#file = file
  }

  async begin({ shards, begunMs }: BackupHead): Promise<void> {
    const head = Buffer.alloc(HEAD_BYTES)
    head.writeUInt32LE(MAGIC, 0)
    head.writeUInt32LE(VERSION, 4)
    head.writeUInt32LE(shards, 8)
    head.writeDoubleLE(begunMs, 12)
    head.writeUInt32LE(crc32(head.subarray(0, 20)), 20)
    await this.#file.write(head)
  }

  /** Whole items of a shard. Of several calls at a time, one is written behind the other. */
  write(shard: number, items: Uint8Array): Promise<void> {
    if (items.length === 0) return this.#turn
    this.#parts += 1
    this.#turn = this.#turn.then(() => this.#file.write(partHead(items.length, shard, items), items))
    return this.#turn
  }

  async end(): Promise<void> {
    await this.#file.write(partHead(0, this.#parts, NOTHING))
  }
}

const NOTHING = new Uint8Array()

function partHead(lengthBytes: number, number: number, items: Uint8Array): Buffer {
  const head = Buffer.alloc(PART_HEAD_BYTES)
  head.writeUInt32LE(lengthBytes, 0)
  head.writeUInt32LE(number, 4)
  head.writeUInt32LE(checksumOf(head, items), 8)
  return head
}

/** Of an empty array, Node.js returns 0 whatever came before. */
function checksumOf(head: Buffer, items: Uint8Array): number {
  const ofHead = crc32(head.subarray(0, 8))
  return items.length === 0 ? ofHead : crc32(items, ofHead)
}

/** Reads a backup. It says what is wrong with one that is not whole. */
export class BackupReader implements AsyncDisposable {
  readonly path: string
  readonly lengthBytes: number
  readonly head: BackupHead
  readonly #file: FileHandle

  private constructor(path: string, file: FileHandle, lengthBytes: number, head: BackupHead) {
    this.path = path
    this.#file = file
    this.lengthBytes = lengthBytes
    this.head = head
  }

  /** @throws IndexError `ERR_AETHER_INDEX_BACKUP` */
  static async open(path: string): Promise<BackupReader> {
    const file = await open(path, 'r').catch((cause: NodeJS.ErrnoException) => {
      throw new IndexError('BACKUP', `the backup ${path} cannot be opened: ${cause.message}`, { cause })
    })
    try {
      const { size } = await file.stat()
      const head = await readAt(file, 0, Math.min(size, HEAD_BYTES))
      if (head.length < HEAD_BYTES || head.readUInt32LE(0) !== MAGIC)
        throw new IndexError('BACKUP', `${path} is no backup of an index`)
      if (crc32(head.subarray(0, 20)) !== head.readUInt32LE(20)) throw damaged(path, 0)
      if (head.readUInt32LE(4) !== VERSION) {
        const which = `the backup ${path} has format ${head.readUInt32LE(4)}`
        throw new IndexError(
          'BACKUP',
          `${which}, and this version of Aether reads ${VERSION}; use the one that wrote it`,
        )
      }
      return new BackupReader(path, file, size, { shards: head.readUInt32LE(8), begunMs: head.readDoubleLE(12) })
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /** Each part, from the first on. @throws IndexError `ERR_AETHER_INDEX_BACKUP`, whose `offset` says where. */
  async *parts(): AsyncGenerator<{ readonly shard: number; readonly items: Buffer; readonly endBytes: number }> {
    let at = HEAD_BYTES
    for (let parts = 0; ; parts += 1) {
      const head = await this.#read(at, PART_HEAD_BYTES)
      const lengthBytes = head.readUInt32LE(0)
      const number = head.readUInt32LE(4)
      const items = await this.#read(at + PART_HEAD_BYTES, lengthBytes)
      if (checksumOf(head, items) !== head.readUInt32LE(8)) throw damaged(this.path, at)
      const endBytes = at + PART_HEAD_BYTES + lengthBytes
      if (lengthBytes === 0) {
        if (number !== parts || endBytes !== this.lengthBytes) throw damaged(this.path, at)
        return
      }
      if (number >= this.head.shards) throw damaged(this.path, at)
      at = endBytes
      yield { shard: number, items, endBytes }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close()
  }

  async #read(at: number, lengthBytes: number): Promise<Buffer> {
    if (at + lengthBytes > this.lengthBytes) throw damaged(this.path, at)
    return await readAt(this.#file, at, lengthBytes)
  }
}

async function readAt(file: FileHandle, at: number, lengthBytes: number): Promise<Buffer> {
  const bytes = Buffer.alloc(lengthBytes)
  let done = 0
  while (done < lengthBytes) {
    const { bytesRead } = await file.read(bytes, done, lengthBytes - done, at + done)
    if (bytesRead === 0) break
    done += bytesRead
  }
  return bytes.subarray(0, done)
}

function damaged(path: string, offset: number): IndexError {
  const what = `the backup ${path} is damaged or cut off at byte ${offset}`
  return new IndexError('BACKUP', `${what}; nothing of it is restored. Take another one`, { offset })
}

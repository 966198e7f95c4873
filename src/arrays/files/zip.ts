import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { crc32, deflateRaw, inflateRaw } from 'node:zlib'
import { availableMemory, formatSize } from '../../dsm/index.ts'
import { ArrayError } from '../errors.ts'
import {
  centralEntry,
  centralHeader,
  DEFLATED,
  directoryEnd,
  END,
  END_64,
  END_64_BYTES,
  END_BYTES,
  FULL_16,
  LOCAL,
  LOCAL_BYTES,
  LOCATOR_64,
  LOCATOR_64_BYTES,
  localHeader,
  STORED,
  type ZipEntry,
} from './zip-records.ts'

const compress = promisify(deflateRaw)
const expand = promisify(inflateRaw)
/** No deflated byte stands for more: a match of 258 bytes takes two bits at least. */
const DEFLATE_RATIO_MAX = 1032

/** An archive whose entries are read one by one. */
export class ZipReader implements AsyncDisposable {
  readonly #path: string
  readonly #handle: FileHandle
  readonly #entries: ReadonlyMap<string, ZipEntry>

  private constructor(path: string, handle: FileHandle, entries: ReadonlyMap<string, ZipEntry>) {
    this.#path = path
    this.#handle = handle
    this.#entries = entries
  }

  static async open(path: string): Promise<ZipReader> {
    const handle = await open(path, 'r')
    try {
      return new ZipReader(path, handle, await readDirectory(handle, path))
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  get names(): readonly string[] {
    return [...this.#entries.keys()]
  }

  /**
   * The bytes of an entry.
   * @throws ArrayError VALUE if it is not there, or damaged; MEMORY if it takes more than there is.
   */
  async read(name: string): Promise<Uint8Array> {
    const entry = this.#entries.get(name)
    if (entry === undefined)
      throw new ArrayError('VALUE', `${this.#path} has no ${name}; it has ${this.names.join(', ') || 'nothing'}`)
    const header = await readExactly(this.#handle, entry.start, LOCAL_BYTES, this.#path)
    if (header.readUInt32LE(0) !== LOCAL) throw damaged(this.#path, `${name} is not where the directory says`)
    const start = entry.start + LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28)
    const packed = await readExactly(this.#handle, start, entry.packedBytes, this.#path)
    const bytes = await this.#unpacked(entry, packed)
    if (bytes.length !== entry.bytes || crc32(bytes) !== entry.checksum)
      throw damaged(this.#path, `${name} has another checksum than the directory says`)
    return bytes
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #unpacked({ name, method, bytes }: ZipEntry, packed: Buffer): Promise<Uint8Array> {
    if (method === STORED) return packed
    if (method !== DEFLATED)
      throw new ArrayError(
        'VALUE',
        `${name} of ${this.#path} is compressed by method ${method}; only deflate can be read`,
      )
    if (bytes > packed.length * DEFLATE_RATIO_MAX)
      throw damaged(this.#path, `${name} cannot have ${bytes} bytes, since ${packed.length} deflated ones are there`)
    const available = availableMemory() ?? Number.POSITIVE_INFINITY
    if (bytes > available)
      throw new ArrayError(
        'MEMORY',
        `${name} of ${this.#path} takes ${formatSize(bytes)}, and ${formatSize(available)} of memory are available; drop arrays`,
      )
    return expand(packed, { maxOutputLength: Math.max(1, bytes) }).catch((cause: unknown) => {
      throw damaged(this.#path, `${name} cannot be decompressed`, { cause })
    })
  }
}

/** Writes an archive, entry by entry. `finish` makes it one. */
export class ZipWriter implements AsyncDisposable {
  readonly #handle: FileHandle
  readonly #directory: Buffer[] = []
  #position = 0

  private constructor(handle: FileHandle) {
    this.#handle = handle
  }

  static async create(path: string): Promise<ZipWriter> {
    return new ZipWriter(await open(path, 'w'))
  }

  /** Adds an entry of these bytes. */
  async add(name: string, bytes: Uint8Array, options: { readonly compressed: boolean }): Promise<void> {
    const packed = options.compressed ? await compress(bytes) : bytes
    const entry = {
      name,
      method: options.compressed ? DEFLATED : STORED,
      checksum: crc32(bytes),
      packedBytes: packed.length,
      bytes: bytes.length,
      start: this.#position,
    }
    await this.#write(localHeader(entry))
    await this.#write(packed)
    this.#directory.push(centralHeader(entry))
  }

  async finish(): Promise<void> {
    const directory = Buffer.concat(this.#directory)
    const start = this.#position
    await this.#write(directory)
    await this.#write(directoryEnd(this.#directory.length, directory.length, start))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.#handle.write(bytes, done, bytes.length - done, this.#position)
      done += bytesWritten
      this.#position += bytesWritten
    }
  }
}

async function readDirectory(handle: FileHandle, path: string): Promise<Map<string, ZipEntry>> {
  const { count, bytes, start } = await findDirectory(handle, path)
  const directory = await readExactly(handle, start, bytes, path)
  const entries = new Map<string, ZipEntry>()
  let at = 0
  for (let index = 0; index < count; index += 1) {
    const found = centralEntry(directory, at)
    if (found === undefined) throw damaged(path, `entry ${index} of its directory is not one`)
    entries.set(found.entry.name, found.entry)
    at = found.next
  }
  checkApart([...entries.values()], start, path)
  return entries
}

/** A small archive whose entries share their bytes would become a large one in memory. @throws ArrayError */
function checkApart(entries: readonly ZipEntry[], directoryStart: number, path: string): void {
  const inOrder = [...entries].sort((one, other) => one.start - other.start)
  for (const [index, { name, start, packedBytes }] of inOrder.entries())
    if (start + LOCAL_BYTES + packedBytes > (inOrder[index + 1]?.start ?? directoryStart))
      throw damaged(path, `${name} reaches into what comes behind it`)
}

async function findDirectory(
  handle: FileHandle,
  path: string,
): Promise<{ count: number; bytes: number; start: number }> {
  const { size } = await handle.stat()
  // The end may be followed by a comment.
  const tailBytes = Math.min(size, END_BYTES + FULL_16 + LOCATOR_64_BYTES)
  const tail = await readExactly(handle, size - tailBytes, tailBytes, path)
  let at = tail.length - END_BYTES
  while (at >= 0 && tail.readUInt32LE(at) !== END) at -= 1
  if (at < 0) throw new ArrayError('VALUE', `${path} is not a zip archive, which .npz files are`)
  const locator = at - LOCATOR_64_BYTES
  if (locator < 0 || tail.readUInt32LE(locator) !== LOCATOR_64)
    return { count: tail.readUInt16LE(at + 10), bytes: tail.readUInt32LE(at + 12), start: tail.readUInt32LE(at + 16) }
  const wide = await readExactly(handle, Number(tail.readBigUInt64LE(locator + 8)), END_64_BYTES, path)
  if (wide.readUInt32LE(0) !== END_64) throw damaged(path, 'the end of its directory is not where it is said to be')
  return {
    count: Number(wide.readBigUInt64LE(32)),
    bytes: Number(wide.readBigUInt64LE(40)),
    start: Number(wide.readBigUInt64LE(48)),
  }
}

async function readExactly(handle: FileHandle, position: number, length: number, path: string): Promise<Buffer> {
  const { size } = await handle.stat()
  if (position < 0 || position + length > size) throw damaged(path, 'it ends too early')
  const bytes = Buffer.alloc(length)
  for (let done = 0; done < length; ) {
    const { bytesRead } = await handle.read(bytes, done, length - done, position + done)
    if (bytesRead === 0) throw damaged(path, 'it was cut while it was read')
    done += bytesRead
  }
  return bytes
}

function damaged(path: string, why: string, options?: ErrorOptions): ArrayError {
  return new ArrayError('VALUE', `${path} is damaged: ${why}`, options)
}

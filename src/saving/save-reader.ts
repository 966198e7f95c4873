import { type FileHandle, open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { SaveError } from '../dsm/index.ts'
import {
  BLOCK_HEAD_BYTES,
  BlockKind,
  CHECKSUM_BYTES,
  type EndBlock,
  FORMAT_VERSION,
  FORMAT_VERSION_MIN,
  MAGIC,
  PREAMBLE_BYTES,
  type RegionBlock,
  type StartBlock,
} from './format.ts'

/** Read at once from the disk. */
const READ_BYTES = 2 ** 18

/** One step of a save. */
export type SavePart =
  | { readonly type: 'start'; readonly start: StartBlock }
  | { readonly type: 'region' | 'structures'; readonly region: RegionBlock }
  | { readonly type: 'bytes'; readonly offset: number; readonly bytes: Uint8Array }
  | {
      readonly type: 'structure'
      readonly structure: { readonly name: string; readonly kind: string; readonly parameters: readonly number[] }
    }
  | { readonly type: 'records'; readonly records: readonly Uint8Array[] }
  | { readonly type: 'end'; readonly end: EndBlock }

/**
 * The parts of the save at `path`, each after its checksum was compared. The last one is `end`, where the file ends.
 * @throws SaveError if it cannot be read, is of another version, or is damaged: the message says where.
 */
export async function* readSave(path: string): AsyncGenerator<SavePart, undefined> {
  const input = await Input.open(path)
  try {
    await checkPreamble(input)
    let isOver = false
    for (let number = 0; !isOver; number += 1) {
      const part = await readBlock(input, number)
      isOver = part.type === 'end'
      if (isOver && !input.isAtEnd) throw input.damaged('more follows after its end')
      yield part
    }
  } finally {
    await input.close()
  }
  return undefined
}

async function checkPreamble(input: Input): Promise<void> {
  const bytes = await input.take(PREAMBLE_BYTES)
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw input.damaged('it does not begin as a save')
  const version = bytes.readUInt32LE(MAGIC.length)
  if (version >= FORMAT_VERSION_MIN && version <= FORMAT_VERSION) return
  const known = `formats ${FORMAT_VERSION_MIN} to ${FORMAT_VERSION}`
  const what = `is a save of format ${version}, and this version of Aether reads ${known}`
  throw new SaveError('ERR_AETHER_SAVE_VERSION', input.path, `${input.path} ${what}; use the version that wrote it`)
}

async function readBlock(input: Input, number: number): Promise<SavePart> {
  const head = await input.take(BLOCK_HEAD_BYTES)
  if (head.readUInt32LE(12) !== crc32(head.subarray(0, 12))) throw input.damaged('the head of a block is wrong')
  const kind = head.readUInt32LE(0)
  if (head.readUInt32LE(4) !== number) throw input.damaged('a block is not in its place')
  const lengthBytes = head.readUInt32LE(8)
  const body = await input.take(lengthBytes + CHECKSUM_BYTES)
  const payload = body.subarray(0, lengthBytes)
  if (body.readUInt32LE(lengthBytes) !== crc32(payload)) throw input.damaged('the contents of a block are wrong')
  const part = parsed(input, () => partOf(kind, payload))
  if (part === undefined || (number === 0) !== (part.type === 'start')) throw input.damaged('a block is unknown')
  return part
}

/** Its checksum was right. So it is what was written, if a save was. */
function parsed<T>(input: Input, parse: () => T): T {
  try {
    return parse()
  } catch {
    throw input.damaged('a block cannot be read')
  }
}

function partOf(kind: number, payload: Buffer): SavePart | undefined {
  const json = <T>() => JSON.parse(payload.toString()) as T
  switch (kind) {
    case BlockKind.Start:
      return { type: 'start', start: json() }
    case BlockKind.Region:
      return { type: 'region', region: json() }
    case BlockKind.Bytes:
      return { type: 'bytes', offset: payload.readDoubleLE(0), bytes: payload.subarray(8) }
    case BlockKind.Structures:
      return { type: 'structures', region: json() }
    case BlockKind.Structure:
      return { type: 'structure', structure: json() }
    case BlockKind.Records:
      return { type: 'records', records: recordsIn(payload) }
    case BlockKind.End:
      return { type: 'end', end: json() }
    default:
      return undefined
  }
}

function recordsIn(payload: Buffer): readonly Uint8Array[] {
  const records: Uint8Array[] = []
  for (let at = 0; at < payload.length; ) {
    const end = at + 4 + payload.readUInt32LE(at)
    records.push(payload.subarray(at + 4, end))
    at = end
  }
  return records
}

/** A file that is read from start to end. */
class Input {
  readonly path: string
  readonly #file: FileHandle
  readonly #sizeBytes: number
  #read: Buffer = Buffer.alloc(0)
  /** Where in the file the next byte is. */
  #at = 0

  private constructor(path: string, file: FileHandle, sizeBytes: number) {
    this.path = path
    this.#file = file
    this.#sizeBytes = sizeBytes
  }

  /** @throws SaveError */
  static async open(path: string): Promise<Input> {
    try {
      const file = await open(path, 'r')
      return new Input(path, file, (await file.stat()).size)
    } catch (cause) {
      throw unreadable(path, cause)
    }
  }

  get isAtEnd(): boolean {
    return this.#at === this.#sizeBytes
  }

  /** The next bytes. They stay what they are. @throws SaveError */
  async take(lengthBytes: number): Promise<Buffer> {
    if (this.#at + lengthBytes > this.#sizeBytes) throw this.damaged('it is cut off')
    if (this.#read.length < lengthBytes) await this.#fill(lengthBytes)
    const taken = this.#read.subarray(0, lengthBytes)
    this.#read = this.#read.subarray(lengthBytes)
    this.#at += lengthBytes
    return taken
  }

  damaged(how: string): SaveError {
    const what = `the save ${this.path} is damaged at byte ${this.#at}: ${how}`
    return new SaveError('ERR_AETHER_SAVE_DAMAGED', this.path, `${what}; put an older copy of it in its place`)
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  async #fill(lengthBytes: number): Promise<void> {
    const before = this.#read
    const wanted = Math.min(Math.max(lengthBytes, READ_BYTES), this.#sizeBytes - this.#at)
    const bytes = Buffer.allocUnsafe(wanted)
    before.copy(bytes)
    for (let have = before.length; have < wanted; ) {
      const { bytesRead } = await this.#file
        .read(bytes, have, wanted - have, this.#at + have)
        .catch((cause) => Promise.reject(unreadable(this.path, cause)))
      if (bytesRead === 0) throw this.damaged('it became shorter')
      have += bytesRead
    }
    this.#read = bytes
  }
}

function unreadable(path: string, cause: unknown): SaveError {
  const { code, message } = cause as NodeJS.ErrnoException
  if (code === 'ENOENT')
    return new SaveError('ERR_AETHER_SAVE_NOT_FOUND', path, `there is no save ${path}; name another file`, { cause })
  return new SaveError('ERR_AETHER_SAVE_FAILED', path, `the save ${path} cannot be read: ${message}`, { cause })
}

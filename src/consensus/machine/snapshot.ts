import { crc32 } from 'node:zlib'
import { messageOfThrown, mustBe } from '../../native/index.ts'
import { ConsensusError } from '../errors.ts'
import { AppliedState } from './applied-state.ts'
import type { Applier } from './applier.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { checkFormat, FIRST_FORMAT } from './formats.ts'

/**
 * A snapshot: chunks, each with a head. Numbers are little-endian.
 *
 * ```
 *  chunk      0 number: 0, 1, …   4 length of the payload   8 CRC-32 of these 8 bytes and the payload   12 payload
 *  payload 0  0 'AeRM'   4 version of the snapshot   8 chunks of the machine   12 the applied state
 *             and at its end, in version 2: the format of commands that is in force; else that is the first one
 *  payload 1, 2, …   what the machine gave
 * ```
 */
const MAGIC = 0x4d526541
const VERSION = 1
/** So releases before it read what they understand. */
const VERSION_WITH_FORMAT = 2
export const CHUNK_HEAD_BYTES = 12
/** Bytes that are checksummed in a row. */
const TURN_BYTES = 2 ** 22

/** The length of a whole chunk, by its head. Its checksum was not compared. */
export function chunkLengthOf(head: Uint8Array): number {
  return CHUNK_HEAD_BYTES + new DataView(head.buffer, head.byteOffset).getUint32(4, true)
}

/** All that a replica needs to go on from the last entry that was applied. The bytes are the caller's own. */
export function takeSnapshot<Command, Answer>(applier: Applier<Command, Answer>): Uint8Array[] {
  const header = encodeHeader(applier.wholeState())
  const chunks: Uint8Array[] = [new Uint8Array()]
  for (const bytes of applier.machine.snapshot()) {
    if (!(bytes instanceof Uint8Array)) throw mustBe('a chunk of snapshot()', 'a Uint8Array', bytes)
    chunks.push(encodeChunk(chunks.length, bytes))
  }
  chunks[0] = encodeChunk(0, header(chunks.length - 1))
  return chunks
}

/** The payload of the first chunk, once it is known how many chunks of the machine follow. */
export function encodeHeader(state: AppliedState): (chunks: number) => Uint8Array {
  const writer = new ByteWriter()
  writer.u32(MAGIC)
  const hasFormat = state.format > FIRST_FORMAT
  writer.u32(hasFormat ? VERSION_WITH_FORMAT : VERSION)
  const ofCount = writer.lengthBytes
  writer.u32(0)
  state.encode(writer)
  if (hasFormat) writer.u32(state.format)
  return (chunks) => {
    const bytes = writer.bytes().slice()
    new DataView(bytes.buffer).setUint32(ofCount, chunks, true)
    return bytes
  }
}

/**
 * Put an applier and its machine where a snapshot was taken. It may not be behind what the applier has applied.
 * `isChecked`: a checksum of all of it was right.
 * @throws ConsensusError if it is damaged, or of another version or an unknown format: nothing was touched. What the
 *   machine throws.
 */
export function restoreSnapshot<Command, Answer>(
  applier: Applier<Command, Answer>,
  chunks: readonly Uint8Array[],
  { isChecked = false }: { readonly isChecked?: boolean } = {},
): void {
  const payloads = chunks.map((bytes, number) => decodeChunk(bytes, number, isChecked ? 'none' : undefined))
  const state = stateOf(payloads)
  checkFormat(state.format, applier.formatKnown)
  applier.restore(state, payloads.slice(1))
}

function encodeChunk(number: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(CHUNK_HEAD_BYTES + payload.length)
  bytes.set(chunkHead(number, payload))
  bytes.set(payload, CHUNK_HEAD_BYTES)
  return bytes
}

/** What stands before the payload of a chunk. */
export function chunkHead(number: number, payload: Uint8Array): Uint8Array {
  const { head, view } = headOf(number, payload.length)
  view.setUint32(8, checksumOf(head, payload), true)
  return head
}

/** The same of a payload in parts. Others have their turn meanwhile. */
export async function chunkHeadOf(
  number: number,
  parts: readonly Uint8Array[],
  nextTurn: () => Promise<unknown>,
): Promise<Uint8Array> {
  const lengthBytes = parts.reduce((sum, { length }) => sum + length, 0)
  const { head, view } = headOf(number, lengthBytes)
  let checksum = checksumOfHead(head)
  let left = TURN_BYTES
  for (const part of parts) {
    checksum = crc32(part, checksum)
    left -= part.length
    if (left > 0) continue
    left = TURN_BYTES
    await nextTurn()
  }
  view.setUint32(8, checksum, true)
  return head
}

/** Without the checksum. */
function headOf(number: number, lengthBytes: number): { readonly head: Uint8Array; readonly view: DataView } {
  const head = new Uint8Array(CHUNK_HEAD_BYTES)
  const view = new DataView(head.buffer)
  view.setUint32(0, number, true)
  view.setUint32(4, lengthBytes, true)
  return { head, view }
}

function checksumOf(head: Uint8Array, payload: Uint8Array): number {
  return crc32(payload, checksumOfHead(head))
}

/** The checksum of a chunk, before its payload. */
export function checksumOfHead(head: Uint8Array): number {
  return crc32(head.subarray(0, 8))
}

/**
 * The payload of the chunk with that number, a view of it. `checksum`: of the chunk, or `none` where that of all of it
 * was compared. @throws ConsensusError
 */
export function decodeChunk(bytes: Uint8Array, number: number, checksum?: number | 'none'): Uint8Array {
  if (bytes.length < CHUNK_HEAD_BYTES) throw damaged(`chunk ${number} is cut off`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const found = checksum ?? checksumOf(bytes, bytes.subarray(CHUNK_HEAD_BYTES))
  if (found !== 'none' && view.getUint32(8, true) !== found) throw damaged(`the checksum of chunk ${number} is wrong`)
  if (view.getUint32(0, true) !== number) throw damaged(`chunk ${number} is not in its place`)
  return bytes.subarray(CHUNK_HEAD_BYTES)
}

/** Checksums were right, so it is what was written, if a snapshot was. */
function stateOf([header, ...machine]: readonly Uint8Array[]): AppliedState {
  if (header === undefined) throw damaged('it has no chunk')
  try {
    const reader = new ByteReader(header)
    if (reader.u32() !== MAGIC) throw damaged('it does not begin as a snapshot')
    const version = reader.u32()
    checkVersion(version)
    if (reader.u32() !== machine.length) throw damaged(`${machine.length} chunks of the machine are not all`)
    const state = AppliedState.decode(reader)
    if (version === VERSION_WITH_FORMAT) state.format = reader.u32()
    if (!reader.isAtEnd) throw damaged('more follows after its header')
    return state
  } catch (cause) {
    if (cause instanceof RangeError) throw damaged(`its header cannot be read: ${messageOfThrown(cause)}`)
    throw cause
  }
}

function checkVersion(version: number): void {
  if (version === VERSION || version === VERSION_WITH_FORMAT) return
  const what = `the snapshot has version ${version}, and this version of Aether reads up to ${VERSION_WITH_FORMAT}`
  throw new ConsensusError('SNAPSHOT_VERSION', `${what}; use the version that wrote it`)
}

function damaged(how: string): ConsensusError {
  return new ConsensusError('SNAPSHOT', `the snapshot is damaged: ${how}; fetch it again, or take an older one`)
}

/** Chunks in one piece, each behind its length. */
export function packChunks(chunks: readonly Uint8Array[]): Uint8Array {
  const total = chunks.reduce((sum, { length }) => sum + 4 + length, 0)
  const packed = new Uint8Array(total)
  const view = new DataView(packed.buffer)
  let at = 0
  for (const chunk of chunks) {
    view.setUint32(at, chunk.length, true)
    packed.set(chunk, at + 4)
    at += 4 + chunk.length
  }
  return packed
}

export function unpackChunks(packed: Uint8Array): Uint8Array[] {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length)
  const chunks: Uint8Array[] = []
  for (let at = 0; at < packed.length; at += 4 + chunks.at(-1)!.length)
    chunks.push(packed.subarray(at + 4, at + 4 + view.getUint32(at, true)))
  return chunks
}

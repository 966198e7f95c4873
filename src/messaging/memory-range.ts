import { ArgumentError, mustBe, shown } from '../native/index.ts'
import { checkAttached } from '../verbs/index.ts'

/** Memory of this end that the peer can reach once it knows address and key. */
export interface RegisteredBuffer {
  readonly address: number
  /** The peer's key for it. */
  readonly key: number
  readonly bytes: Uint8Array
  /** Idempotent. The key then reaches nothing. */
  close(): void
  [Symbol.dispose](): void
}

/** A part of this end's registered memory. */
export interface LocalRange {
  readonly buffer: RegisteredBuffer
  /** Default 0. */
  readonly offset?: number
  /** In bytes; default: to the end of the buffer. */
  readonly length?: number
}

/** The first byte of a part of the peer's memory, as its {@link RegisteredBuffer} says. */
export interface RemoteAddress {
  readonly address: number
  readonly key: number
}

/**
 * Return the length of a message: of plain bytes, or of a range of registered memory. Throws ArgumentError for anything
 * else.
 */
export function lengthOf(data: Uint8Array | LocalRange): number {
  if (data instanceof Uint8Array) {
    if (data.length === 0) checkAttached('data', data)
    return data.length
  }
  if (!(data?.buffer?.bytes instanceof Uint8Array))
    throw new ArgumentError(
      'data',
      'data must be a Uint8Array, or a range { buffer, offset, length } of memory from allocate or register',
    )
  const { buffer, offset = 0 } = data
  if (typeof offset !== 'number') throw mustBe('data.offset', 'a number of bytes', offset)
  const { length = buffer.bytes.length - offset } = data
  const isInside = Number.isInteger(offset) && Number.isInteger(length) && offset >= 0 && length >= 0
  if (isInside && offset + length <= buffer.bytes.length) return length
  const what = `${shown(length)} bytes from offset ${offset} are not a part of a buffer of ${buffer.bytes.length} bytes`
  throw new ArgumentError('data', `data must be within its buffer: ${what}`)
}

/** Return the bytes of a range that {@link lengthOf} has accepted. */
export function bytesOf(range: LocalRange): Uint8Array {
  const { buffer, offset = 0 } = range
  return buffer.bytes.subarray(offset, offset + lengthOf(range))
}

/** Check the form of a remote address; the request itself checks the numbers. Throws ArgumentError. */
export function checkRemote(remote: RemoteAddress): void {
  if (typeof remote === 'object' && remote !== null) return
  throw new ArgumentError('remote', "remote must be { address, key }, as the peer's registered buffer says")
}

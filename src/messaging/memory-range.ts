import { ArgumentError } from '../native/index.ts'
import type { LocalRange, RemoteAddress } from './message-link.ts'

/**
 * How many bytes a message has: bytes as they are, or a range of registered memory. Throws ArgumentError for what is
 * neither.
 */
export function lengthOf(data: Uint8Array | LocalRange): number {
  if (data instanceof Uint8Array) return data.length
  if (!(data?.buffer?.bytes instanceof Uint8Array))
    throw new ArgumentError(
      'data',
      'a message is a Uint8Array, or a range { buffer, offset, length } of memory of allocate or register',
    )
  const { buffer, offset = 0, length = buffer.bytes.length - offset } = data
  const isInside = Number.isInteger(offset) && Number.isInteger(length) && offset >= 0 && length >= 0
  if (isInside && offset + length <= buffer.bytes.length) return length
  throw new ArgumentError('data', `${length} bytes from ${offset} on are no part of a buffer of ${buffer.bytes.length}`)
}

/** The bytes of a range that {@link lengthOf} has found good. */
export function bytesOf(range: LocalRange): Uint8Array {
  const { buffer, offset = 0 } = range
  return buffer.bytes.subarray(offset, offset + lengthOf(range))
}

/** Whether it is an address at all: what is no number the request itself refuses. Throws ArgumentError. */
export function checkRemote(remote: RemoteAddress): void {
  if (typeof remote === 'object' && remote !== null) return
  throw new ArgumentError('remote', "a place in the peer's memory is { address, key }, as its registered buffer says")
}

import { Buffer } from 'node:buffer'

/** Shorter ones are copied faster without a call. */
const SHORT_BYTES = 32

/**
 * A copy of these bytes. It is a part of Node.js' pool if it is short: memory of its own costs more than a microsecond
 * from 65 bytes on.
 */
export function copyOf(bytes: Uint8Array, begin: number, end: number): Buffer {
  const copy = Buffer.allocUnsafe(end - begin)
  if (copy.length > SHORT_BYTES) copy.set(bytes.subarray(begin, end))
  else for (let at = 0; at < copy.length; at += 1) copy[at] = bytes[begin + at]!
  return copy
}

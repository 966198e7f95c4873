import { Buffer } from 'node:buffer'

/** Works on any Uint8Array. Node.js' types leave it out. */
const { latin1Slice } = Buffer.prototype as unknown as {
  readonly latin1Slice: (this: Uint8Array, start: number, end: number) => string
}

/** Bytes as a string with a character for each: they compare and hash as the bytes do, and take one byte each. */
export function latin1Of(bytes: Uint8Array): string {
  return latin1Slice.call(bytes, 0, bytes.length)
}

/** The same of a part, without a view of it. */
export function latin1Between(bytes: Uint8Array, begin: number, end: number): string {
  return latin1Slice.call(bytes, begin, end)
}

export function bytesOf(latin1: string): Uint8Array {
  return Buffer.from(latin1, 'latin1')
}

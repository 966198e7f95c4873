import { ArgumentError } from '../native/index.ts'

/** What may be registered. */
export type Registrable = ArrayBufferView | ArrayBufferLike

/** Return the bytes of a buffer. Throws ArgumentError for an empty one. */
export function bytesOf(buffer: Registrable): Uint8Array {
  const bytes = ArrayBuffer.isView(buffer)
    ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    : new Uint8Array(buffer)
  if (bytes.byteLength === 0)
    throw new ArgumentError('buffer', 'an empty buffer cannot be registered; pass at least one byte')
  return bytes
}

import { ArgumentError, mustBe } from '../native/index.ts'
import { detached, isDetached } from './field-checks.ts'

/** What may be registered. */
export type Registrable = ArrayBufferView | ArrayBufferLike

/** Return the bytes of a buffer. Throws ArgumentError for an empty one. */
export function bytesOf(buffer: Registrable): Uint8Array {
  if (!(ArrayBuffer.isView(buffer) || buffer instanceof ArrayBuffer || buffer instanceof SharedArrayBuffer))
    throw mustBe('buffer', 'a typed array, a DataView or a buffer', buffer)
  if (isDetached(ArrayBuffer.isView(buffer) ? buffer.buffer : buffer))
    throw new ArgumentError('buffer', detached('buffer'))
  const bytes = ArrayBuffer.isView(buffer)
    ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    : new Uint8Array(buffer)
  if (bytes.byteLength === 0)
    throw new ArgumentError('buffer', 'buffer is empty and cannot be registered; pass at least one byte')
  return bytes
}

import type { RpcCodec } from './rpc-codec.ts'
import { readValue } from './value-reader.ts'
import { writeValue, writtenBytes } from './value-writer.ts'

/**
 * The default codec: takes what `structuredClone` takes, and encodes small values fast and in few bytes. Typed arrays
 * come out as arrays of the receiver's own. A `Buffer` comes out as the `Uint8Array` that it is. The properties of an
 * object without a prototype come out in a plain one.
 */
export const values: RpcCodec = {
  name: 'values',
  encode(value) {
    const length = writeValue(value)
    return writtenBytes().subarray(0, length)
  },
  decode: (bytes) => readValue(bytes, 0, bytes.length),
}

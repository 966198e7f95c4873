import { bytes } from '../codecs/index.ts'
import type { RpcCodec } from './rpc-codec.ts'

/**
 * As {@link bytes}, but a handler gets its request in the memory of the link, without a copy. It is valid until the
 * handler returns or awaits. For unary methods that finish at once. Answers, and the items of streams, are copied as
 * usual.
 */
export const borrowedBytes: RpcCodec<Uint8Array> = {
  name: 'borrowed-bytes',
  encode: bytes.encode,
  decode: bytes.decode,
  adopt: (value) => value,
  borrows: true,
}

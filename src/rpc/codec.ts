import { Buffer } from 'node:buffer'
import { ArgumentError } from '../native/index.ts'

/**
 * How values become bytes and bytes values. Both ends of a method use the same. Those of `aether-dsm/structures` fit,
 * and so does a packer of msgpackr with a name: `Object.assign(new Packr({ copyBuffers: true }), { name: 'msgpack' })`.
 * Without `copyBuffers` the bytes in its values are views of what {@link RpcCodec.decode} was given.
 */
export interface RpcCodec<V = unknown> {
  readonly name: string
  /** The bytes are copied before anything else is encoded, unless {@link keeps} says otherwise. */
  encode(value: V): Uint8Array
  /** `bytes` are of this call only: what is kept of them is copied. */
  decode(bytes: Uint8Array): V
  /** The same for `bytes` that nobody else uses, so that a value may keep them. Without it, `decode` is called. */
  adopt?(bytes: Uint8Array): V
  /**
   * True where what `encode` gives stays as it is when something else is encoded: long bodies are then not copied while
   * they wait for room.
   */
  readonly keeps?: boolean
  /**
   * True where requests are decoded without {@link decode}: the handler gets the bytes themselves, until it returns or
   * awaits.
   */
  readonly borrows?: boolean
}

/**
 * Bytes as they are: a `Uint8Array` in, one of the receiver's own out. A long one is sent from where it lies, so leave
 * it alone until the call has ended.
 */
export const bytes: RpcCodec<Uint8Array> = {
  name: 'bytes',
  encode(value) {
    if (value instanceof Uint8Array) return value
    throw new ArgumentError('value', `the codec 'bytes' takes a Uint8Array, not ${typeof value}`)
  },
  // A Buffer's own slice would be no copy.
  decode: (value) => Uint8Array.prototype.slice.call(value),
  adopt: (value) => value,
  keeps: true,
}

/**
 * As {@link bytes}, but a handler gets its request where it lies in the memory of the link, without a copy: valid until
 * the handler returns or awaits. For unary methods that are done at once. Answers, and the items of streams, are copied
 * as ever.
 */
export const borrowedBytes: RpcCodec<Uint8Array> = {
  name: 'borrowed-bytes',
  encode: bytes.encode,
  decode: bytes.decode,
  adopt: (value) => value,
  borrows: true,
}

/** What JSON can say, in its text. */
export const json: RpcCodec = {
  name: 'json',
  encode(value) {
    const text = JSON.stringify(value)
    return Buffer.from(text === undefined ? '' : text)
  },
  decode(value) {
    return value.length === 0 ? undefined : JSON.parse(Buffer.from(value).toString())
  },
  keeps: true,
}

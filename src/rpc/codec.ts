import { Buffer } from 'node:buffer'
import { ArgumentError, messageOfThrown, mustBe } from '../native/index.ts'

/**
 * How values become bytes and bytes become values. Both ends of a method use the same codec. Those of
 * `aether-dsm/structures` fit. So does a packer of msgpackr with a name: `Object.assign(new Packr({ copyBuffers: true
 * }), { name: 'msgpack' })`. Without `copyBuffers` the bytes in its values are views of the input of {@link
 * RpcCodec.decode}.
 */
export interface RpcCodec<V = unknown> {
  readonly name: string
  /** Encode a value. The bytes are copied before anything else is encoded, unless {@link keeps} says otherwise. */
  encode(value: V): Uint8Array
  /** Decode a value. `bytes` are valid only during this call: copy what you keep of them. */
  decode(bytes: Uint8Array): V
  /** Decode `bytes` that have no other user, so that the value may keep them. Without it, `decode` is called. */
  adopt?(bytes: Uint8Array): V
  /**
   * True if the result of `encode` does not change when something else is encoded. Long bodies are then not copied
   * while they wait for room.
   */
  readonly keeps?: boolean
  /**
   * True if requests are passed without {@link decode}: the handler gets the bytes themselves, until it returns or
   * awaits.
   */
  readonly borrows?: boolean
}

/**
 * Plain bytes: takes a `Uint8Array`, gives the receiver one of its own. A long one is sent from where it lies, so do
 * not change it until the call has ended.
 */
export const bytes: RpcCodec<Uint8Array> = {
  name: 'bytes',
  encode(value) {
    if (value instanceof Uint8Array) return value
    throw mustBe('value', "a Uint8Array for the codec 'bytes'", value)
  },
  // A Buffer's own slice would be no copy.
  decode: (value) => Uint8Array.prototype.slice.call(value),
  adopt: (value) => value,
  keeps: true,
}

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

/** Empty if the value has no form in JSON. @throws ArgumentError. */
function jsonOf(value: unknown): string {
  try {
    const text = JSON.stringify(value) as string | undefined
    return text ?? ''
  } catch (cause) {
    throw new ArgumentError('value', `value must be what JSON can represent: ${messageOfThrown(cause)}`, { cause })
  }
}

/** Values of JSON, as its text. */
export const json: RpcCodec = {
  name: 'json',
  encode(value) {
    return Buffer.from(jsonOf(value))
  },
  decode(value) {
    return value.length === 0 ? undefined : JSON.parse(Buffer.from(value).toString())
  },
  keeps: true,
}

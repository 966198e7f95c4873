/**
 * How values become bytes and bytes become values. Both ends of a method use the same codec. All processes must open a
 * map or queue with the same codec: its name is compared.
 */
export interface Codec<V> {
  /** Identifies the codec; at most 64 characters. */
  readonly name: string
  /**
   * Encode a value. The bytes are copied before anything else is encoded, so the same memory may be used again each
   * time. RPC makes an exception if the codec {@link keeps} them.
   */
  encode(value: V): Uint8Array
  /** Decode a value. `bytes` are valid only during this call: copy what you keep of them. */
  decode(bytes: Uint8Array): V
  /**
   * As `decode`, for `bytes` that have no other user, so that the value may keep them. For codecs that would otherwise
   * copy them; without it, `decode` is called.
   */
  adopt?(bytes: Uint8Array): V
  /**
   * True if the result of `encode` does not change when something else is encoded. RPC then does not copy long bodies
   * while they wait for room.
   */
  readonly keeps?: boolean
}

/** Decode bytes that belong to this value alone. */
export function decodeOwn<V>(codec: Codec<V>, bytes: Uint8Array): V {
  return codec.adopt === undefined ? codec.decode(bytes) : codec.adopt(bytes)
}

/**
 * How values become bytes and bytes values. A map or queue is opened with the same codec by everybody: its name is compared.
 */
export interface Codec<V> {
  /** Told apart by it; at most 64 characters. */
  readonly name: string
  /** The bytes are copied before anything else is encoded, so the same memory may be used again each time. */
  encode(value: V): Uint8Array
  /** `bytes` are of this call only: what is kept of them is copied. */
  decode(bytes: Uint8Array): V
}

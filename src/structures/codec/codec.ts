import { ArgumentError } from '../../native/index.ts'
import { StructureError } from '../errors.ts'

/**
 * How values become bytes and bytes values. All processes must open a map or queue with the same codec: its name is
 * compared.
 */
export interface Codec<V> {
  /** Told apart by it; at most 64 characters. */
  readonly name: string
  /** The bytes are copied before anything else is encoded, so the same memory may be used again each time. */
  encode(value: V): Uint8Array
  /** `bytes` are of this call only: what is kept of them is copied. */
  decode(bytes: Uint8Array): V
  /**
   * As `decode`, for `bytes` that have no other user, so that a value may keep them. For codecs that would otherwise
   * copy them; without it, `decode` is called.
   */
  adopt?(bytes: Uint8Array): V
}

/** The value of bytes that are this value's own. */
export function decodeOwn<V>(codec: Codec<V>, bytes: Uint8Array): V {
  return codec.adopt === undefined ? codec.decode(bytes) : codec.adopt(bytes)
}

/** What a structure's values are. */
export interface ValueSettings<V> {
  readonly codec: Codec<V>
  /** The longest value, in bytes, encoded. */
  readonly valueBytesMax: number
}

/**
 * The bytes of a value for the structure `name`. @throws StructureError where there are too many, ArgumentError where
 * the codec gives none.
 */
export function encodeValue<V>({ codec, valueBytesMax }: ValueSettings<V>, name: string, value: V): Uint8Array {
  const bytes: unknown = codec.encode(value)
  if (!(bytes instanceof Uint8Array)) {
    const why = `the codec '${codec.name}' must encode a value as a Uint8Array, but returned ${bytes === null ? 'null' : typeof bytes}`
    throw new ArgumentError('options.codec', why)
  }
  if (bytes.length <= valueBytesMax) return bytes
  const why = `a value has ${bytes.length} bytes when encoded; '${name}' takes at most ${valueBytesMax} (options.valueBytesMax)`
  throw new StructureError('ERR_AETHER_VALUE_TOO_LARGE', name, why)
}

import type { Codec } from '../../codecs/index.ts'
import { ArgumentError, shown } from '../../native/index.ts'
import { StructureError } from '../errors.ts'

/** How a structure's values are encoded. */
export interface ValueSettings<V> {
  readonly codec: Codec<V>
  /** The longest value, in bytes when encoded. */
  readonly valueBytesMax: number
}

/**
 * The bytes of a value for the structure `name`. @throws StructureError if there are too many, ArgumentError if the
 * codec returns no Uint8Array.
 */
export function encodeValue<V>({ codec, valueBytesMax }: ValueSettings<V>, name: string, value: V): Uint8Array {
  const bytes: unknown = codec.encode(value)
  if (!(bytes instanceof Uint8Array)) {
    const why = `the codec '${codec.name}' must encode a value as a Uint8Array, but returned ${shown(bytes)}`
    throw new ArgumentError('options.codec', why)
  }
  if (bytes.length <= valueBytesMax) return bytes
  const why = `a value has ${bytes.length} bytes when encoded; '${name}' takes at most ${valueBytesMax} (options.valueBytesMax)`
  throw new StructureError('ERR_AETHER_VALUE_TOO_LARGE', name, why)
}

/** The same, copied: a codec may use its bytes again. Without `valueBytesMax` there may be any number. */
export function encodeCopy<V>(
  settings: Partial<ValueSettings<V>> & { readonly codec: Codec<V> },
  name: string,
  value: V,
): Uint8Array {
  const bytes = encodeValue({ valueBytesMax: Number.POSITIVE_INFINITY, ...settings }, name, value)
  return bytes.length === 0 ? new Uint8Array(0) : new Uint8Array(bytes)
}

import { IndexError } from '../errors.ts'
import { bytesOfKey, keyOfBytes, TUPLE_MARK } from './index-key.ts'

/** How keys are divided into parts. Those of tuples are their own. */
export interface PartsOfKeys {
  /** Between the parts of a key that is text or bytes. */
  readonly separator: Uint8Array
  /** How many parts a prefix has. */
  readonly depth: number
}

/**
 * The first parts of a key, but never all of them: `user:7:` of `user:7:name` with a depth of 2. So what is left always
 * names something. A key of one part has the empty prefix.
 */
export function prefixOf(key: Uint8Array, { separator, depth }: PartsOfKeys): Uint8Array {
  if (key.length > 0 && key[0] === TUPLE_MARK) {
    const parts = tupleOf(key)
    if (parts !== undefined) return bytesOfKey(parts.slice(0, Math.max(0, Math.min(depth, parts.length - 1))))
  }
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.length)
  let end = 0
  for (let parts = 0; parts < depth; parts += 1) {
    const at = bytes.indexOf(separator, end)
    if (at < 0) break
    end = at + separator.length
  }
  return bytes.subarray(0, end)
}

/** Clients of Redis may have any bytes as a key. */
function tupleOf(key: Uint8Array): Exclude<ReturnType<typeof keyOfBytes>, Buffer> | undefined {
  try {
    const parts = keyOfBytes(key)
    return Buffer.isBuffer(parts) ? undefined : parts
  } catch (error) {
    if (error instanceof IndexError) return undefined
    throw error
  }
}

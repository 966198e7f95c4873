import { ABOVE } from './tuple-format.ts'
import type { TuplePart } from './tuple-part.ts'
import { TupleReader } from './tuple-reader.ts'
import { TupleWriter } from './tuple-writer.ts'

/** Keys from `from` on and below `to`. */
interface KeyRange {
  readonly from: Uint8Array
  readonly to: Uint8Array
}

/**
 * Return the key of a tuple. Compared as unsigned bytes (`Buffer.compare`), keys are in the order of their tuples.
 *
 * @throws ArgumentError for what has no place in the order: NaN, half a surrogate pair, undefined, other objects.
 *   Also for whole numbers from 2^53 on, which may have been rounded: pass bigints.
 */
export function encodeTuple(parts: readonly TuplePart[]): Uint8Array {
  return new TupleWriter().tuple(parts)
}

/**
 * Return the tuple of a key. Whole numbers up to 2^53 - 1 come back as numbers, those beyond as bigints. Bytes are
 * copies. `begin`: where it begins.
 *
 * A key has no checksum. Each key that is accepted is the one that `encodeTuple` gives for what is returned.
 *
 * @throws IndexError `ERR_AETHER_INDEX_KEY` if no tuple has this key.
 */
export function decodeTuple(key: Uint8Array, begin: number = 0): TuplePart[] {
  return new TupleReader(key, begin).tuple()
}

/** Return the range of all tuples that begin with these parts, with that of just these. @throws ArgumentError */
export function prefixRange(parts: readonly TuplePart[]): KeyRange {
  const from = encodeTuple(parts)
  const to = new Uint8Array(from.length + 1)
  to.set(from)
  to[from.length] = ABOVE
  return { from, to }
}

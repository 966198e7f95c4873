import { mustBe } from '../native/index.ts'
import type { Codec } from './codec.ts'

/**
 * Bytes as they are. What is read is a copy of its own. RPC sends a long one from where it lies, so do not change it
 * until the call has ended.
 */
export const bytes: Codec<Uint8Array> = {
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

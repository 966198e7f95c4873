import { mustBe } from '../native/index.ts'
import type { Codec } from './codec.ts'

const float = new Float64Array(1)
const floatBytes = new Uint8Array(float.buffer)

/** Numbers, 8 bytes each. */
export const number: Codec<number> = {
  name: 'number',
  encode(value) {
    if (typeof value !== 'number') throw mustBe('value', "a number for the codec 'number'", value)
    float[0] = value
    return floatBytes
  },
  decode(value) {
    for (let at = 0; at < 8; at += 1) floatBytes[at] = value[at]!
    return float[0]!
  },
}

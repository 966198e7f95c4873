import type { Codec } from '../../structures/index.ts'

/** What a limiter stores for a key. */
export interface Consumed {
  readonly points: number
  /** When the window ends, in milliseconds of the machine's monotonic clock; 0: never. */
  readonly endMs: number
}

const words = new Float64Array(2)
const bytes = new Uint8Array(words.buffer)

/** Two numbers, 16 bytes. */
export const consumed: Codec<Consumed> = {
  name: 'rate-limiter-flexible',

  encode({ points, endMs }) {
    words[0] = points
    words[1] = endMs
    return bytes
  },

  decode(encoded) {
    bytes.set(encoded)
    return { points: words[0]!, endMs: words[1]! }
  },
}

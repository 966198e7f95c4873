/**
 * Log-linear buckets for nanoseconds: values below 32 have a bucket each; above, every octave is cut into 16 equal
 * parts. So a percentile is off by at most 1/16 of its value, whatever its size.
 *
 * After HdrHistogram (G. Tene, 2012), with a fixed precision.
 */
const PARTS = 16
const EXACT = 2 * PARTS
/** Values of 2^40 ns (18 minutes) and more share the last bucket. */
const OCTAVE_MAX = 40
const FIRST_OCTAVE = 5

export const BUCKETS: number = EXACT + (OCTAVE_MAX - FIRST_OCTAVE) * PARTS

/** The bucket of a value in nanoseconds. Negative values count as 0. */
export function bucketOf(ns: number): number {
  if (!(ns >= EXACT)) return ns > 0 ? Math.floor(ns) : 0
  if (ns >= 2 ** OCTAVE_MAX) return BUCKETS - 1
  if (ns < 2 ** 31) {
    // Nearly all; without powers of two.
    const shift = 27 - Math.clz32(ns)
    return EXACT + (shift - 1) * PARTS + (ns >> shift) - PARTS
  }
  const octave = octaveOf(ns)
  const part = Math.floor(ns / 2 ** (octave - 4)) - PARTS
  return EXACT + (octave - FIRST_OCTAVE) * PARTS + part
}

/** The largest whole value that falls into `bucket`. */
export function bucketEnd(bucket: number): number {
  if (bucket < EXACT) return bucket
  const octave = FIRST_OCTAVE + Math.floor((bucket - EXACT) / PARTS)
  const part = (bucket - EXACT) % PARTS
  return (PARTS + part + 1) * 2 ** (octave - 4) - 1
}

/** floor(log2(value)), exact for every value from 1 to 2^53: Math.log2 alone rounds up just below a power of two. */
function octaveOf(value: number): number {
  if (value < 2 ** 31) return 31 - Math.clz32(value)
  return 31 + octaveOf(Math.floor(value / 2 ** 31))
}

/**
 * Parts of an octave. Below two octaves of parts, each nanosecond has a bucket of its own. So a time is known to 1 of
 * 128, which is as precise as Redis is. After HdrHistogram (G. Tene, 2012).
 */
const PARTS = 128
const FIRST_OCTAVE = 7
/** Longer times count as this, as in Redis. */
const NS_MAX = 1e9
const BUCKETS = bucketOf(NS_MAX) + 1
/** LATENCY HISTOGRAM begins with this, and goes on in powers of two. */
const FIRST_POWER_NS = 1024
/** The end of the last octave that has a bucket. */
const LAST_NS = 2 ** 30 - 1

/** How often a command took how long. It takes 24 KiB from the first measured time on. */
export class CommandTimes {
  #counts: Float64Array | undefined
  #measured = 0
  /** Answered from memory without a look at the clock: each counts as a nanosecond. */
  looks = 0

  get count(): number {
    return this.#measured + this.looks
  }

  add(ms: number, calls: number = 1): void {
    this.#counts ??= new Float64Array(BUCKETS)
    const ns = Math.min(NS_MAX, Math.max(1, Math.round(ms * 1e6)))
    this.#counts[bucketOf(ns)]! += calls
    this.#measured += calls
  }

  /** The number of times up to each power of two, in microseconds. Powers in which nothing was added are left out. */
  powers(): readonly (readonly [usec: number, count: number])[] {
    const powers: [number, number][] = []
    let powerNs = FIRST_POWER_NS
    let [told, count] = [0, 0]
    for (let bucket = 0; bucket < BUCKETS && told < this.count; bucket += 1) {
      count += this.#at(bucket)
      // The bucket in which a power of two lies still belongs to it.
      if (bucket !== Math.min(bucketOf(powerNs), BUCKETS - 1)) continue
      const end = powerNs > NS_MAX ? LAST_NS : endOf(bucket)
      if (count > told) powers.push([Math.floor(end / 1000), count])
      told = count
      powerNs *= 2
    }
    return powers
  }

  /** The time that as many percent did not exceed. It must not be empty. */
  percentileUsec(percent: number): number {
    const wanted = Math.max(1, Math.floor((percent / 100) * this.count + 0.5))
    let bucket = 0
    for (let count = this.#at(0); count < wanted; count += this.#at(bucket)) bucket += 1
    // As in Redis, none at all is below the start of the first bucket.
    return (percent === 0 ? startOf(bucket) : endOf(bucket)) / 1000
  }

  #at(bucket: number): number {
    return (this.#counts?.[bucket] ?? 0) + (bucket === 1 ? this.looks : 0)
  }
}

function bucketOf(ns: number): number {
  const octave = Math.max(0, 31 - FIRST_OCTAVE - Math.clz32(ns))
  return octave * PARTS + (ns >>> octave)
}

function startOf(bucket: number): number {
  const octave = Math.max(0, Math.floor(bucket / PARTS) - 1)
  return (bucket - octave * PARTS) * 2 ** octave
}

function endOf(bucket: number): number {
  return startOf(bucket + 1) - 1
}

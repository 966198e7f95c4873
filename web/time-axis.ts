/** The minimum and maximum time that a chart shows, in milliseconds. */
const SPAN_MIN = 30_000
const SPAN_MAX = 120_000

/** Positions of looks on the time axis of a chart. Looks need not be evenly spaced. */
export class TimeAxis {
  /** The time that is shown. */
  readonly spanMs: number
  /** The first look that is shown. Earlier looks are too old, or from before the clock was set back. */
  readonly first: number
  readonly #times: readonly number[]
  readonly #now: number

  /** `times` has the times of the looks, in milliseconds, the newest last. */
  constructor(times: readonly number[]) {
    const now = times.at(-1) ?? 0
    this.#times = times
    this.#now = now
    this.first = times.findLastIndex((time) => time > now || now - time > SPAN_MAX) + 1
    this.spanMs = Math.max(SPAN_MIN, now - (times[this.first] ?? now))
  }

  /** How far back a look is: 0 is now, 1 is the other end. */
  back(index: number): number {
    return (this.#now - this.#times[index]!) / this.spanMs
  }

  /** The labels below the axis. */
  get labels(): readonly { readonly seconds: number; readonly back: number }[] {
    const whole = this.spanMs / 1000
    const step = whole > 60 ? 30 : 10
    return Array.from({ length: Math.floor(whole / step) + 1 }, (_, index) => {
      const seconds = index * step
      return { seconds, back: seconds / whole }
    })
  }
}

/** One measured time: seconds since 1970, and milliseconds that it took. */
export interface LatencySample {
  readonly second: number
  readonly ms: number
}

/** Redis keeps as many of each event. */
const SAMPLES_MAX = 160

/** What took at least as long as latency-monitor-threshold says, by the name of the event. */
export class LatencyEvents {
  readonly #byEvent = new Map<string, { samples: LatencySample[]; maxMs: number }>()

  get events(): ReadonlyMap<string, { readonly samples: readonly LatencySample[]; readonly maxMs: number }> {
    return this.#byEvent
  }

  /** The longest time of each second is kept. */
  add(event: string, ms: number): void {
    const known = this.#byEvent.get(event) ?? { samples: [], maxMs: 0 }
    this.#byEvent.set(event, known)
    known.maxMs = Math.max(known.maxMs, ms)
    const second = Math.floor(Date.now() / 1000)
    const last = known.samples.at(-1)
    if (last?.second === second) known.samples[known.samples.length - 1] = { second, ms: Math.max(last.ms, ms) }
    else known.samples.push({ second, ms })
    if (known.samples.length > SAMPLES_MAX) known.samples.shift()
  }

  /** All of them without names. How many there were. */
  reset(events: readonly string[]): number {
    if (events.length === 0) {
      const count = this.#byEvent.size
      this.#byEvent.clear()
      return count
    }
    return events.filter((event) => this.#byEvent.delete(event)).length
  }
}

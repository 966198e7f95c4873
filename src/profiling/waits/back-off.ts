/** What this needs to know of a wait. */
export interface TimedWait {
  readonly key: string
  readonly sinceNs: number
}

/** No wait is told of less often than this. */
const TELL_NS_MAX = 600e9

interface Known {
  readonly firstSeenNs: number
  nextNs: number
}

/**
 * Selects the waits to report now: each when it has lasted `afterNs`, and again after twice that, four times that, and
 * so on. A jump of the clock (the process was stopped, the machine slept) makes no wait slow: all get their time once
 * more.
 */
export class BackOff {
  readonly #afterNs: number
  readonly #known = new Map<string, Known>()
  #lastNs: number | undefined
  #forgivenNs = 0

  constructor(afterNs: number) {
    this.#afterNs = afterNs
  }

  /** `waits`: all present waits; those no longer among them are forgotten. `late`: the waits to report. */
  step<W extends TimedWait>(waits: readonly W[], nowNs: number): W[] {
    if (this.#lastNs !== undefined && nowNs - this.#lastNs > this.#afterNs) this.#forgive(nowNs)
    this.#lastNs = nowNs
    const present = new Set<string>()
    const due: W[] = []
    for (const wait of waits) {
      present.add(wait.key)
      const known = this.#known.get(wait.key) ?? this.#remember(wait, nowNs)
      if (nowNs < known.nextNs) continue
      known.nextNs = nowNs + Math.min(TELL_NS_MAX, nowNs - this.#beganNs(known))
      due.push(wait)
    }
    for (const key of this.#known.keys()) if (!present.has(key)) this.#known.delete(key)
    return due
  }

  /** How long the wait of this key has been known; 0 if it is not. */
  ageNs(key: string, nowNs: number): number {
    const known = this.#known.get(key)
    return known === undefined ? 0 : nowNs - this.#beganNs(known)
  }

  #remember({ key, sinceNs }: TimedWait, nowNs: number): Known {
    const firstSeenNs = Math.min(sinceNs, nowNs)
    const known = { firstSeenNs, nextNs: Math.max(firstSeenNs, this.#forgivenNs) + this.#afterNs }
    this.#known.set(key, known)
    return known
  }

  #beganNs({ firstSeenNs }: Known): number {
    return Math.max(firstSeenNs, this.#forgivenNs)
  }

  #forgive(nowNs: number): void {
    this.#forgivenNs = nowNs
    for (const known of this.#known.values()) known.nextNs = nowNs + this.#afterNs
  }
}

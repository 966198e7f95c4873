const PAUSE_MS_FIRST = 10_000
const PAUSE_MS_MAX = 600_000

interface HandOver {
  readonly processId: number
  readonly atMs: number
  readonly pauseMs: number
}

/**
 * Which shards a node has handed over. One that it leads again was not kept there: that process is busy, say, and its
 * replica steps back. Each attempt leaves the shard without a leader for a while, so the next ones are ever rarer.
 */
export class HandOvers {
  readonly #last = new Map<number, HandOver>()

  /** Whether to hand a shard to that process now. */
  mayTry(shard: number, processId: number, nowMs: number): boolean {
    const last = this.#last.get(shard)
    return last === undefined || last.processId !== processId || nowMs - last.atMs >= last.pauseMs
  }

  done(shard: number, processId: number, nowMs: number): void {
    const last = this.#last.get(shard)
    const isAgain = last?.processId === processId && nowMs - last.atMs < 2 * last.pauseMs
    const pauseMs = isAgain ? Math.min(2 * last.pauseMs, PAUSE_MS_MAX) : PAUSE_MS_FIRST
    this.#last.set(shard, { processId, atMs: nowMs, pauseMs })
  }
}

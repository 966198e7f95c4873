/** A peer that may have gone silently, as its carrier sees it. */
export interface AskedPeer {
  /** How many things have come from it or were completed so far. */
  readonly events: number
  /** Send it something that it answers. */
  askAfterPeer(): void
}

/**
 * Asks after a peer of which nothing was heard for a while. An answer, or the retries' end, comes as a completion;
 * nothing else would tell that a silent peer's machine is gone.
 */
export class PeerProbe {
  readonly #peer: AskedPeer
  readonly #timer: NodeJS.Timeout | undefined
  /** Infinity: never. */
  readonly #intervalMs: number
  #askedMs = performance.now()
  /** Of the peer, when it was asked after last. */
  #events = 0

  /** `intervalMs` 0: it is not asked after. */
  constructor(peer: AskedPeer, intervalMs: number) {
    this.#peer = peer
    this.#intervalMs = intervalMs > 0 ? intervalMs : Number.POSITIVE_INFINITY
    if (intervalMs > 0) this.#timer = setInterval(() => this.#ask(performance.now()), intervalMs).unref()
  }

  /** For threads that block, whose timers do not run. */
  attend(nowMs: number): void {
    if (nowMs - this.#askedMs >= this.#intervalMs) this.#ask(nowMs)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #ask(nowMs: number): void {
    const { events } = this.#peer
    const isQuiet = events === this.#events
    this.#askedMs = nowMs
    this.#events = events
    if (isQuiet) this.#peer.askAfterPeer()
  }
}

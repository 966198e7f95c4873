import { ConsensusError } from '../errors.ts'

/**
 * Which part of the time that others wait counts for the leader: clocks may differ in speed by the rest, a tenth.
 */
const OWN_SHARE = 0.9

/** What a term asks of its election. */
export interface TermHost {
  readonly token: number
  readonly ttlMs: number
  /** False: it leads no more. Rejects if the election is closed. */
  renew(): Promise<boolean>
  /** The term is over here; tell the others. */
  withdraw(): Promise<void>
}

/** Whether what was sent then, and acknowledged, still counts. */
export function isFresh(sentMs: number, ttlMs: number): boolean {
  return performance.now() - sentMs < ttlMs * OWN_SHARE
}

/**
 * A term in which this process leads. It is renewed while the event loop runs.
 *
 * It ends here before another can lead. Others wait `ttlMs` after they have seen a renewal; here, time counts from the
 * sending of that renewal, and ends a tenth earlier. Both use clocks that never jump.
 */
export class ElectedTerm implements AsyncDisposable {
  /** A fencing token, greater with each leader. Pass it along, and refuse lower ones than you have seen. */
  readonly token: number
  /** Aborted when this process leads no more. */
  readonly signal: AbortSignal
  readonly #host: TermHost
  readonly #over = new AbortController()
  #sentMs: number
  #expiry: NodeJS.Timeout | undefined
  #renewing: NodeJS.Timeout | undefined

  /** @internal `sentMs`: when the renewal was sent that is acknowledged. */
  constructor(host: TermHost, sentMs: number) {
    this.token = host.token
    this.signal = this.#over.signal
    this.#host = host
    this.#sentMs = sentMs
    this.#goOn()
  }

  /**
   * Whether this process still leads by the clock. `signal` is aborted by a timer, so a process that was stopped may do
   * other things first. Ask here before what must not be done twice.
   */
  get isLeader(): boolean {
    if (!this.signal.aborted && !isFresh(this.#sentMs, this.#host.ttlMs)) {
      this.end(`it was not renewed within ${this.#host.ttlMs} ms`)
      this.#host.withdraw().catch(() => {})
    }
    return !this.signal.aborted
  }

  /** Lead no more. The next candidate leads at once. Idempotent. */
  async resign(): Promise<void> {
    if (this.signal.aborted) return
    this.end('it was resigned')
    await this.#host.withdraw()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.resign()
  }

  /** @internal Nothing is told to others. */
  end(why: string): void {
    if (this.signal.aborted) return
    clearTimeout(this.#expiry)
    clearTimeout(this.#renewing)
    this.#over.abort(new ConsensusError('NOT_LEADER', `term ${this.token} is over: ${why}; call campaign() again`))
  }

  #goOn(): void {
    const { ttlMs } = this.#host
    clearTimeout(this.#expiry)
    this.#expiry = setTimeout(() => this.#look(), this.#sentMs + ttlMs * OWN_SHARE - performance.now()).unref()
    this.#renewing = setTimeout(() => void this.#renew(), ttlMs / 3).unref()
  }

  /** A timer may be early by a millisecond. */
  #look(): void {
    if (this.isLeader) this.#expiry = setTimeout(() => this.#look(), 1).unref()
  }

  async #renew(): Promise<void> {
    const sentMs = performance.now()
    const isHeld = await this.#host.renew().catch(() => false)
    if (!this.isLeader) return
    if (!isHeld) return this.end('another process leads')
    this.#sentMs = sentMs
    this.#goOn()
  }
}

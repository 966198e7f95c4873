/** How long the first leader is given, in delays; the next one twice as long, and so on. */
const FIRST_TERM = 400

/**
 * The process that is taken for the leader: a failure detector Omega for real processes. Everyone is it for a term, in
 * order, and each term takes twice as long as the one before. A process whose connection has ended is passed over at
 * once. So from some time on all have the same correct leader for long enough, however wrong they were before.
 */
export class Suspicions {
  leader = 0
  readonly #gone: boolean[]
  readonly #lead: (leader: number) => void
  readonly #delayMs: number
  #term = FIRST_TERM
  #timer: NodeJS.Timeout | undefined

  /** `lead` is called when the leader changes; not for process 0, which is the first. */
  constructor(processes: number, delayMs: number, lead: (leader: number) => void) {
    this.#gone = new Array<boolean>(processes).fill(false)
    this.#delayMs = delayMs
    this.#lead = lead
  }

  /** The first term of the first process that is there. */
  start(): void {
    this.leader = Math.max(0, this.#gone.indexOf(false))
    this.#term = FIRST_TERM
    this.#beginTerm()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  gone(process: number): void {
    this.#gone[process] = true
    if (process === this.leader) this.#next()
  }

  #next(): void {
    const order = this.#gone.map((_, at) => (this.leader + 1 + at) % this.#gone.length)
    const next = order.find((process) => !this.#gone[process]) ?? this.leader
    const isOther = next !== this.leader
    this.leader = next
    this.#beginTerm()
    if (isOther) this.#lead(next)
  }

  #beginTerm(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#term *= 2
      this.#next()
    }, this.#term * this.#delayMs)
  }
}

import { IndexError } from './errors.ts'

/** These are no queue. */
const CALM_CALLS = 64
/** With more for this time, the queue is one that stays. It is over when nothing was refused for as long. */
const CALM_MS = 100
/** How long such a queue may take: this, or a multiple of what calls take while it is calm. */
const QUEUE_MS = 20
const QUEUE_TIMES = 2
/** Answers are counted for this time to know their rate. */
const COUNT_MS = 20
/** Weights of the newest in means. A pause of the program is no queue, so what takes longer counts less. */
const NEWEST = 1 / 4
const NEWEST_LONGER = 1 / 64
/** What calls under way bring along. A single one may have more. */
const BYTES_MAX = 64 * 2 ** 20

export interface AdmissionOptions {
  /** Of the index, for messages. */
  readonly name: string
  /** How many calls of the shard may be under way. */
  readonly callsMax: number
  /** A queue that stays is shortened. Otherwise only {@link callsMax} counts. */
  readonly shortens: boolean
  /** For tests. */
  readonly nowMs?: () => number
}

/**
 * Decides whether a shard takes one more call, so that those which it takes are answered soon. It is asked where calls
 * come from: in the process of a client, and in a node for all that come there.
 *
 * A queue absorbs bursts. One that stays is of no use: all wait longer, and no more is done. So calls may pile up for a
 * moment. If they stay piled up, only as many are taken as are answered in {@link QUEUE_MS} at the present rate. The
 * others are refused at once. That is the idea of CoDel, by the length of the queue. How long a call has waited is known
 * only when it is too late to refuse it.
 *
 * A client's refusal costs a node nothing. If clients left it to nodes, refusals would soon be all that these do.
 */
export class Admission {
  readonly #options: AdmissionOptions
  readonly #nowMs: () => number
  #calls = 0
  #bytes = 0
  /** There were few calls at this time. */
  #calmMs: number
  /** Until then a queue is kept short, and it began to be at the first. */
  #shortUntilMs = Number.NEGATIVE_INFINITY
  /** What calls take that begin while there are few. */
  #calmTookMs = 0
  #answersPerMs = 0
  #answers = 0
  #countedMs: number

  constructor(options: AdmissionOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? (() => performance.now())
    this.#calmMs = this.#nowMs()
    this.#countedMs = this.#calmMs
  }

  /** Do the work of a call with `bytes` of arguments. @throws IndexError `BUSY` at once; what the work throws. */
  async during<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const beganMs = this.#nowMs()
    const isFew = this.#calls < CALM_CALLS
    if (isFew) this.#calmMs = beganMs
    const isCalm = isFew && beganMs >= this.#shortUntilMs
    const why = this.#refusal(bytes, beganMs)
    if (why !== undefined) throw this.#busy(why)
    this.#calls += 1
    this.#bytes += bytes
    try {
      const result = await work()
      this.#answered(beganMs, isCalm)
      return result
    } catch (error) {
      // A node that refuses has others to serve.
      if (error instanceof IndexError && error.kind === 'BUSY') this.#shorten(this.#nowMs())
      throw error
    } finally {
      this.#calls -= 1
      this.#bytes -= bytes
    }
  }

  #refusal(bytes: number, nowMs: number): string | undefined {
    const calls = this.#calls
    if (calls >= this.#options.callsMax) return `has ${calls} calls under way, the most that it takes (inFlightMax)`
    if (calls > 0 && this.#bytes + bytes > BYTES_MAX) return `has calls of ${this.#bytes} bytes under way`
    if (nowMs - this.#calmMs > CALM_MS) this.#shorten(nowMs)
    if (nowMs >= this.#shortUntilMs || calls < this.#shortCalls) return undefined
    this.#shorten(nowMs)
    return `is asked for more than it can do, with ${calls} calls under way`
  }

  /** How many calls a queue may have that is kept short. */
  get #shortCalls(): number {
    const queueMs = Math.max(QUEUE_MS, QUEUE_TIMES * this.#calmTookMs)
    return Math.max(CALM_CALLS, queueMs * this.#answersPerMs)
  }

  #shorten(nowMs: number): void {
    if (this.#options.shortens) this.#shortUntilMs = nowMs + CALM_MS
  }

  #answered(beganMs: number, wasCalm: boolean): void {
    const nowMs = this.#nowMs()
    if (wasCalm) {
      const longerMs = nowMs - beganMs - this.#calmTookMs
      this.#calmTookMs += longerMs * (longerMs > 0 ? NEWEST_LONGER : NEWEST)
    }
    this.#answers += 1
    const countedMs = nowMs - this.#countedMs
    if (countedMs < COUNT_MS) return
    this.#answersPerMs += (this.#answers / countedMs - this.#answersPerMs) * NEWEST
    this.#answers = 0
    this.#countedMs = nowMs
  }

  #busy(why: string): IndexError {
    const message = `index '${this.#options.name}' ${why}; nothing was done: try again in a moment, or ask less`
    return new IndexError('BUSY', message, { outcome: 'not-applied' })
  }
}

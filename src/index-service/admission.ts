import { IndexError } from './errors.ts'

/** These are no queue. */
const CALM_CALLS = 64
/** An overload is over when nothing was refused for this time. */
const CALM_MS = 100
/** How long a queue may take meanwhile: a multiple of what calls take while it is calm, between these bounds. */
const QUEUE_TIMES = 2
const QUEUE_MS_MIN = 20
const QUEUE_MS_MAX = 50
/** Answers are counted for this time to know their rate. */
const COUNT_MS = 20
/** Weights of the newest in means. A pause of the program is no queue, so what takes longer counts less. */
const NEWEST = 1 / 4
const NEWEST_LONGER = 1 / 64
/** What calls under way bring along. A single one may have more. */
const BYTES_MAX = 128 * 2 ** 20

export interface AdmissionOptions {
  /** Of the index, for messages. */
  readonly name: string
  /** How many calls of the shard may be under way. */
  readonly callsMax: number
  /** While there are too many, the queue is kept short. Otherwise only {@link callsMax} counts. */
  readonly shortens: boolean
  /** For tests. */
  readonly nowMs?: () => number
}

/**
 * Decides whether a shard takes one more call, so that those which it takes are answered soon. It is asked where calls
 * come from: in the process of a client, and in a node for all that come there.
 *
 * A queue absorbs bursts, and gives programs something to do that wait for answers. Those that ask whether or not they
 * were answered fill any queue. All wait longer then, and no more is done. They are known by reaching the maximum. From
 * then on only as many are taken as are answered soon at the present rate, and the others are refused at once. So it is
 * the length of the queue that decides. How long a call has waited is known when it is too late.
 *
 * A client's refusal costs a node nothing. If clients left it to nodes, refusals would soon be all that these do.
 */
export class Admission {
  readonly #options: AdmissionOptions
  readonly #nowMs: () => number
  #calls = 0
  #bytes = 0
  /** Until then the queue is kept short. */
  #shortUntilMs = Number.NEGATIVE_INFINITY
  /** What calls take that begin while there are few. */
  #calmTookMs = 0
  #answersPerMs = 0
  #answers = 0
  #countedMs: number

  constructor(options: AdmissionOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? (() => performance.now())
    this.#countedMs = this.#nowMs()
  }

  /** How many are under way. */
  get calls(): number {
    return this.#calls
  }

  /** Do the work of a call with `bytes` of arguments. @throws IndexError `BUSY` at once; what the work throws. */
  async during<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const beganMs = this.#nowMs()
    const isCalm = this.#calls < CALM_CALLS && beganMs >= this.#shortUntilMs
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
    if (calls > 0 && this.#bytes + bytes > BYTES_MAX) return `has calls of ${this.#bytes} bytes under way`
    const isShort = nowMs < this.#shortUntilMs
    if (calls < (isShort ? Math.min(this.#shortCalls, this.#options.callsMax) : this.#options.callsMax))
      return undefined
    this.#shorten(nowMs)
    return `is asked for more than it can do, with ${calls} calls of a shard under way`
  }

  /** How many calls a queue may have that is kept short. */
  get #shortCalls(): number {
    const queueMs = Math.min(QUEUE_MS_MAX, Math.max(QUEUE_MS_MIN, QUEUE_TIMES * this.#calmTookMs))
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

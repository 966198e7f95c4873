import type { QueuePairAttributes } from '../queue-pair-contract.ts'
import { answerTimeoutMs, RNR_RETRY_FOREVER, rnrTimerMs } from '../soft/rnr-timer.ts'

/**
 * What to do about a request that could not be carried out: whether to go on waiting, and whether this wait has just
 * begun.
 */
export interface Verdict {
  readonly patient: boolean
  readonly began: boolean
}

const BEGAN: Verdict = { patient: true, began: true }
const WAITING: Verdict = { patient: true, began: false }
const LOST: Verdict = { patient: false, began: false }

/**
 * The retry counters and deadlines of the request at the head of a send queue. Times are milliseconds of
 * performance.now().
 */
export class Patience {
  #reason: 'none' | 'receiver' | 'answer' = 'none'
  #retriesLeft = 0
  #until = 0

  /** The receiver has no request posted: wait for its timer, up to rnrRetry times (ibv_modify_qp(3)). */
  receiverNotReady(now: number, timerCode: number, attributes: QueuePairAttributes): Verdict {
    const retries = attributes.rnrRetry ?? 0
    if (this.#reason !== 'receiver') {
      if (retries === 0) return LOST
      this.#reason = 'receiver'
      this.#retriesLeft = retries - 1
      this.#until = now + rnrTimerMs(timerCode)
      return BEGAN
    }
    if (now < this.#until) return WAITING
    if (retries !== RNR_RETRY_FOREVER) {
      if (this.#retriesLeft === 0) return LOST
      this.#retriesLeft -= 1
    }
    this.#until = now + rnrTimerMs(timerCode)
    return WAITING
  }

  /** The peer does not answer: wait 4.096 µs × 2^timeout for the first try and each retry. */
  noAnswer(now: number, attributes: QueuePairAttributes): Verdict {
    if (this.#reason !== 'answer') {
      const budget = answerTimeoutMs(attributes.timeout ?? 0, attributes.retryCount ?? 0)
      this.#reason = 'answer'
      this.#until = budget === 0 ? Number.POSITIVE_INFINITY : now + budget
      return BEGAN
    }
    return now < this.#until ? WAITING : LOST
  }

  /** The request is done. Returns true if it had waited for a receiver. */
  forget(): boolean {
    const waited = this.#reason === 'receiver'
    this.#reason = 'none'
    return waited
  }
}

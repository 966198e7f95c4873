import { LookBudget } from './look-budget.ts'

type Budget = Pick<LookBudget, 'isLooking' | 'looksOn' | 'found' | 'slept'>

interface WakefulLoopParts {
  /**
   * Attends to what has come, before the event loop finds it; false if there was nothing. Default: only the loop does.
   */
  readonly poll?: () => boolean
  readonly budget?: Budget
  readonly nowMs?: () => number
  readonly nextTurn?: (run: () => void) => void
}

/**
 * Keeps the event loop from sleeping where its peers ask again at once. Between two turns the loop looks at all its
 * descriptors anyway; so to look is to have another turn. Where a turn takes long, its own descriptors are polled, too.
 * How long it looks is up to a {@link LookBudget}.
 */
export class WakefulLoop {
  readonly #poll: (() => boolean) | undefined
  readonly #budget: Budget
  readonly #nowMs: () => number
  readonly #nextTurn: (run: () => void) => void
  /** A turn was asked for that looks. */
  #isAwake = false
  #asleepSinceMs: number

  constructor(parts: WakefulLoopParts = {}) {
    this.#poll = parts.poll
    this.#budget = parts.budget ?? new LookBudget()
    this.#nowMs = parts.nowMs ?? (() => performance.now())
    this.#nextTurn = parts.nextTurn ?? setImmediate
    this.#asleepSinceMs = this.#nowMs()
  }

  /** Something has come. Called before it is attended to: the look begins when the loop has nothing else to do. */
  came(): void {
    if (!this.#isAwake) {
      this.#budget.slept(this.#nowMs() - this.#asleepSinceMs)
      this.#isAwake = true
      this.#nextTurn(this.#look)
    } else if (this.#budget.isLooking) this.#budget.found(this.#nowMs())
  }

  readonly #look = (): void => {
    if (this.#poll?.() === true) {
      this.#nextTurn(this.#look)
      return
    }
    const nowMs = this.#nowMs()
    if (this.#budget.looksOn(nowMs)) this.#nextTurn(this.#look)
    else {
      this.#isAwake = false
      this.#asleepSinceMs = nowMs
    }
  }
}

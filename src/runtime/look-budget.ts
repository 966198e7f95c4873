import { native } from '../native/index.ts'

/**
 * What waking up takes, at least and at most: from a system call of a few microseconds to a virtual processor that was
 * given back to its host. What a look saves that finds something.
 */
const WAKING_MS_MIN = 0.02
const WAKING_MS_MAX = 0.1
/** So many wake-ups is a look long, so that a sleeping peer can wake up and answer. */
const WAKINGS_PER_LOOK = 2.5
/** The shortest of as many sleeps is a peer's waking up and our own. */
const SLEEPS = 64
/** What each sleep earns towards the next look: looking that never pays takes this much more time than sleeping. */
const EARNED_SHARE = 1 / 20
/** The least is what a preempted thread waits for its processor; the most forgives one of these. */
const CREDIT_MIN_MS = -3
const CREDIT_MAX_MS = 3
const CREDIT_AT_FIRST_MS = 0.5

/**
 * Decides whether a waiting end looks again or sleeps. Looking is quicker if the peer answers soon from another
 * processor. Otherwise it holds the processor that the peer or another program needs, and the scheduler takes it away
 * for milliseconds. No count of processors tells which is the case, but the clock does.
 *
 * So looking has a credit of time. A look that finds something adds what waking up would have taken. A look in vain, or
 * one that the scheduler interrupted, takes off all its time. Without credit an end sleeps at once, and each sleep
 * earns a little. Altogether, looking loses at most what it has saved, that little, and the credit at the start.
 */
export class LookBudget {
  #creditMs = CREDIT_AT_FIRST_MS
  /** When the present look began; -1: it does not look. */
  #sinceMs = -1
  readonly #preemptions: () => number
  /** As of the last sleep or interruption. */
  #preempted = 0
  #wakingMs = WAKING_MS_MIN
  #shortestMs = Number.POSITIVE_INFINITY
  #sleeps = 0

  /** `preemptions`: how often the scheduler has taken this thread its processor away. */
  constructor(preemptions: () => number = native.threadPreemptions) {
    this.#preemptions = preemptions
  }

  /** Nothing has come: true to look again in the next turn, false to sleep. */
  looksOn(nowMs: number): boolean {
    if (this.#sinceMs < 0) {
      if (this.#creditMs <= 0) {
        this.#add(EARNED_SHARE * this.#wakingMs)
        this.#preempted = this.#preemptions()
        return false
      }
      this.#sinceMs = nowMs
      return true
    }
    if (nowMs - this.#sinceMs < this.#lookMs) return true
    this.#end(nowMs)
    return false
  }

  /** It slept for so long, and was woken. */
  slept(ms: number): void {
    this.#shortestMs = Math.min(this.#shortestMs, ms)
    this.#sleeps += 1
    if (this.#sleeps < SLEEPS) return
    this.#wakingMs = Math.min(Math.max(this.#shortestMs / 2, WAKING_MS_MIN), WAKING_MS_MAX)
    this.#shortestMs = Number.POSITIVE_INFINITY
    this.#sleeps = 0
  }

  get isLooking(): boolean {
    return this.#sinceMs >= 0
  }

  /** Something has come during a look. */
  found(nowMs: number): void {
    if (nowMs - this.#sinceMs >= this.#lookMs) this.#end(nowMs)
    else {
      this.#sinceMs = -1
      this.#add(this.#wakingMs)
    }
  }

  /** It waits no more, for another reason. */
  leave(): void {
    this.#sinceMs = -1
  }

  /** A look in vain, or one that took too long to be of use. */
  #end(nowMs: number): void {
    const tookMs = nowMs - this.#sinceMs
    this.#sinceMs = -1
    const preempted = this.#preemptions()
    // One that takes so long was interrupted: by the scheduler, or by the program, which had other things to do.
    const isOwnWork = tookMs > 2 * this.#lookMs && preempted === this.#preempted
    this.#preempted = preempted
    this.#add(isOwnWork ? -this.#lookMs : -tookMs)
  }

  get #lookMs(): number {
    return WAKINGS_PER_LOOK * this.#wakingMs
  }

  #add(ms: number): void {
    this.#creditMs = Math.min(Math.max(this.#creditMs + ms, CREDIT_MIN_MS), CREDIT_MAX_MS)
  }
}

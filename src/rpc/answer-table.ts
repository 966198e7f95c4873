import type { Repetition } from './extension.ts'
import type { OutgoingFrame } from './outgoing-frame.ts'

/** A last frame, as sent to every caller that comes with the key. */
export interface LastFrame {
  readonly kind: number
  readonly word: number
  readonly extension: Uint8Array | undefined
  readonly body: Uint8Array
}

/** A caller that waits for the answer of a key. */
export interface KeyWaiter {
  answer(frame: LastFrame): void
}

/** The call that produces the answer of a key. */
export interface KeyedCall {
  /** `service/method`. */
  readonly method: string
  /** Tell its handler that no caller waits for it. */
  abort(reason: unknown): void
}

/** A key that was seen: its call runs, or has its answer. */
export class KeptAnswer {
  readonly key: string
  readonly createdAt: number
  /** Undefined once there is an answer. */
  call: KeyedCall | undefined
  frame: LastFrame | undefined
  readonly waiters: Set<KeyWaiter> = new Set()

  constructor(key: string, createdAt: number, call: KeyedCall) {
    this.key = key
    this.createdAt = createdAt
    this.call = call
  }
}

/** How many answers are kept, and how long. */
export interface AnswerTableLimits {
  readonly answersKept: number
  readonly answerBytesKept: number
  readonly answerKeptMs: number
}

/**
 * A repetition that took longer than this on its way may be refused, though its key is known not to have been
 * forgotten.
 */
const MARGIN_MS = 5000

/**
 * Answers by idempotency key, so that a repeated call is not run again.
 *
 * 1. The table is bounded, so it forgets, the oldest first. It then notes when the forgotten calls had come.
 * 2. A repetition says how long ago its call was first sent. If that is before the noted time, a missing key proves
 *    nothing, and the caller is told so.
 * 3. A running call is never forgotten.
 */
export class AnswerTable {
  readonly #limits: AnswerTableLimits
  /** In the order in which they came. */
  readonly #answers = new Map<string, KeptAnswer>()
  #bytes = 0
  /** Keys that came up to then may have been forgotten. */
  #forgottenUpTo = -Infinity

  constructor(limits: AnswerTableLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#answers.size
  }

  find(key: string): KeptAnswer | undefined {
    return this.#answers.get(key)
  }

  /** True if a repetition whose key is not here was certainly never run by this server. */
  isFresh(repeated: Repetition, incarnation: number, now: number): boolean {
    return repeated.incarnation === incarnation && now - repeated.ageMs - MARGIN_MS > this.#forgottenUpTo
  }

  begin(key: string, now: number, call: KeyedCall): KeptAnswer {
    const kept = new KeptAnswer(key, now, call)
    this.#answers.set(key, kept)
    this.#shrink(now)
    return kept
  }

  /** The call has its answer. */
  finish(kept: KeptAnswer, { kind, word, extension, body, bodyBytes }: OutgoingFrame, now: number): void {
    kept.call = undefined
    kept.frame = { kind, word, extension, body: Uint8Array.prototype.slice.call(body, 0, bodyBytes) }
    this.#bytes += bodyBytes
    for (const waiter of kept.waiters) waiter.answer(kept.frame)
    kept.waiters.clear()
    this.#shrink(now)
  }

  /** Its call has not begun, and no caller waits for it: treat it as if it had never come. */
  drop({ key }: KeptAnswer): void {
    this.#answers.delete(key)
  }

  /** No caller can come any more: running calls are told. */
  abandon(reason: unknown): void {
    for (const { call } of this.#answers.values()) call?.abort(reason)
  }

  #shrink(now: number): void {
    const { answersKept, answerBytesKept, answerKeptMs } = this.#limits
    for (const kept of this.#answers.values()) {
      const isTooMany = this.#answers.size > answersKept || this.#bytes > answerBytesKept
      const isOld = now - kept.createdAt > answerKeptMs
      if (!isTooMany && !isOld) return
      if (kept.frame === undefined) continue
      this.#answers.delete(kept.key)
      this.#bytes -= kept.frame.body.length
      this.#forgottenUpTo = Math.max(this.#forgottenUpTo, kept.createdAt)
    }
  }
}

import type { CompletionChannel, CompletionQueue } from '../verbs/index.ts'
import type { CompletionMode } from './link-options.ts'

/** An object that the loop looks after. */
export interface Progressing {
  readonly queue: CompletionQueue
  readonly completion: CompletionMode
  /** Process what has come. Returns how many completions. */
  advance(): number
}

/** Turns without anything after which an adaptive end sleeps, at least and at most. */
const TURNS_MIN = 1
const TURNS_MAX = 256
/** A sleep shorter than this would better have been spent looking; one longer than that had better begun at once. */
const SHORT_SLEEP_MS = 0.1
const LONG_SLEEP_MS = 1

/** One that is looked after, and how. */
class Attended {
  readonly subject: Progressing
  idleTurns = 0
  patience = 8
  asleepSince = 0

  constructor(subject: Progressing) {
    this.subject = subject
  }

  /** Turns without anything until it may sleep. */
  get turns(): number {
    const { completion } = this.subject
    if (completion === 'adaptive') return this.patience
    return completion === 'polling' ? Number.POSITIVE_INFINITY : 0
  }

  wake(now: number): void {
    const sleptMs = now - this.asleepSince
    if (sleptMs < SHORT_SLEEP_MS) this.patience = Math.min(TURNS_MAX, this.patience * 2)
    else if (sleptMs > LONG_SLEEP_MS) this.patience = Math.max(TURNS_MIN, this.patience >>> 1)
    this.idleTurns = 0
  }
}

/**
 * Has connections of one thread looked at from its event loop: those awake in each turn, those asleep when the
 * completion channel says so. Before one goes to sleep, it arms its queue and looks once more.
 */
export class ProgressLoop {
  readonly #channel: CompletionChannel
  readonly #all = new Map<CompletionQueue, Attended>()
  readonly #awake = new Set<Attended>()
  #scheduled = false
  #cancel: (() => void) | undefined

  constructor(channel: CompletionChannel) {
    this.#channel = channel
  }

  add(subject: Progressing): void {
    // First, as it fails where the process has no descriptor left.
    this.#listen()
    const attended = new Attended(subject)
    this.#all.set(subject.queue, attended)
    this.#awake.add(attended)
    this.#schedule()
  }

  remove(subject: Progressing): void {
    const attended = this.#all.get(subject.queue)
    if (attended === undefined) return
    this.#all.delete(subject.queue)
    this.#awake.delete(attended)
    if (this.#all.size > 0) return
    this.#cancel?.()
    this.#cancel = undefined
  }

  /** Look at `subject` in the next turn. */
  wake(subject: Progressing): void {
    const attended = this.#all.get(subject.queue)
    if (attended === undefined) return
    attended.idleTurns = 0
    this.#awake.add(attended)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(this.#turn)
  }

  readonly #turn = (): void => {
    this.#scheduled = false
    for (const attended of this.#awake) this.#attend(attended)
    if (this.#awake.size > 0) this.#schedule()
  }

  #attend(attended: Attended): void {
    const { subject } = attended
    if (subject.advance() > 0) {
      attended.idleTurns = 0
      return
    }
    attended.idleTurns += 1
    if (attended.idleTurns <= attended.turns || !this.#all.has(subject.queue)) return
    subject.queue.arm()
    if (subject.advance() > 0) return
    // A handler within that look has woken it.
    if (attended.idleTurns === 0) return
    attended.asleepSince = performance.now()
    this.#awake.delete(attended)
  }

  #listen(): void {
    this.#cancel ??= this.#channel.whenReadable(this.#rung)
  }

  readonly #rung = (): void => {
    this.#cancel = undefined
    const now = performance.now()
    for (const queue of this.#channel.drain()) {
      const attended = this.#all.get(queue)
      if (attended === undefined) continue
      if (!this.#awake.has(attended)) attended.wake(now)
      this.#awake.add(attended)
    }
    if (this.#all.size > 0) this.#listen()
    if (!this.#scheduled) this.#turn()
  }
}

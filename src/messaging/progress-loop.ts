import { LookBudget } from '../runtime/index.ts'
import type { CompletionChannel, CompletionQueue } from '../verbs/index.ts'
import type { CompletionMode } from './link-options.ts'
import type { Alarm } from './message-link.ts'

/** An object that the loop looks after. */
export interface Progressing {
  readonly queue: CompletionQueue
  readonly completion: CompletionMode
  /** Process what has come. Returns how many completions. */
  advance(): number
}

/** One that is looked after, and how. */
class Attended {
  readonly subject: Progressing
  /** It was woken since it was last found without anything. */
  isWoken = false
  readonly #budget = new LookBudget()
  #asleepSinceMs = 0

  constructor(subject: Progressing) {
    this.subject = subject
  }

  /** Nothing has come: whether to look again in the next turn. */
  get looksOn(): boolean {
    const { completion } = this.subject
    return completion === 'adaptive' ? this.#budget.looksOn(performance.now()) : completion === 'polling'
  }

  /** It goes to sleep. */
  sleeps(): void {
    this.#asleepSinceMs = performance.now()
  }

  /** It was asleep, and something has come. */
  wakes(nowMs: number): void {
    this.#budget.slept(nowMs - this.#asleepSinceMs)
  }

  found(): void {
    if (this.#budget.isLooking) this.#budget.found(performance.now())
  }
}

/**
 * Has connections of one thread looked at from its event loop: those awake in each turn, those asleep when the
 * completion channel says so. Before one goes to sleep, it arms its queue and looks once more.
 */
export class ProgressLoop implements Alarm {
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
    attended.isWoken = true
    this.#awake.add(attended)
    this.#schedule()
  }

  get descriptor(): number {
    return this.#channel.descriptor
  }

  rang(): void {
    this.#hear()
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
    attended.isWoken = false
    if (subject.advance() > 0) {
      attended.found()
      return
    }
    if (attended.isWoken || attended.looksOn || !this.#all.has(subject.queue)) return
    subject.queue.arm()
    if (subject.advance() > 0) return
    // A handler within that look has woken it.
    if (attended.isWoken) return
    attended.sleeps()
    this.#awake.delete(attended)
  }

  #listen(): void {
    this.#cancel ??= this.#channel.whenReadable(this.#rung)
  }

  readonly #rung = (): void => {
    this.#cancel = undefined
    this.#hear()
    if (this.#all.size > 0) this.#listen()
    if (!this.#scheduled) this.#turn()
  }

  #hear(): void {
    const nowMs = performance.now()
    for (const queue of this.#channel.drain()) {
      const attended = this.#all.get(queue)
      if (attended === undefined) continue
      if (!this.#awake.has(attended)) attended.wakes(nowMs)
      this.#awake.add(attended)
    }
  }
}

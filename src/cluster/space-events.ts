import type { Member } from './member-table.ts'

/** A process entered the space. */
export interface JoinedEvent {
  readonly type: 'joined'
  readonly member: Member
}

/** A member closed the space, or its process exited in order. */
export interface LeftEvent {
  readonly type: 'left'
  readonly member: Member
}

/** A member's process (or Worker) ended without leaving. */
export interface DiedEvent {
  readonly type: 'died'
  readonly member: Member
  /**
   * The regions that it had open, by name. Their bytes are all there, but what the dead member was changing may be half
   * changed. Empty if it had none open.
   */
  readonly regions: readonly string[]
}

export type SpaceEvent = JoinedEvent | LeftEvent | DiedEvent

/** Where a stream's events come from. */
export interface EventSource {
  /** The events since the last call. */
  take(): readonly SpaceEvent[]
  /** Call `wake` whenever there may be events. It keeps the process alive until the returned function is called. */
  wait(wake: () => void): () => void
  isClosed(): boolean
}

interface Pending {
  readonly resolve: (result: IteratorResult<SpaceEvent, undefined>) => void
  readonly reject: (reason: unknown) => void
}

const DONE: IteratorResult<SpaceEvent, undefined> = { done: true, value: undefined }

/**
 * The iterator behind `space.events()`. Events are derived when they are asked for, so an iterator that is not pulled
 * costs nothing. It ends with the space or by `return()`, or rejects with the reason of its signal.
 */
export class SpaceEvents implements AsyncIterableIterator<SpaceEvent, undefined> {
  readonly #source: EventSource
  readonly #signal: AbortSignal | undefined
  readonly #onAbort = (): void => this.#pump()
  #ready: SpaceEvent[] = []
  #pending: Pending[] = []
  #stopWaiting: (() => void) | undefined
  #ended = false

  constructor(source: EventSource, signal: AbortSignal | undefined) {
    this.#source = source
    this.#signal = signal
    signal?.addEventListener('abort', this.#onAbort)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<SpaceEvent, undefined>> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject })
      this.#pump()
    })
  }

  /** Unsubscribe; a `next()` under way resolves as done. */
  return(): Promise<IteratorResult<SpaceEvent, undefined>> {
    this.#ended = true
    this.#ready = []
    this.#pump()
    return Promise.resolve(DONE)
  }

  #pump(): void {
    if (!this.#ended && this.#pending.length > 0) this.#ready.push(...this.#source.take())
    while (this.#pending.length > 0 && this.#settle(this.#pending[0]!)) this.#pending.shift()
    this.#adjustWaiting()
  }

  /** True if there was an answer. */
  #settle(pending: Pending): boolean {
    const event = this.#ended ? undefined : this.#ready.shift()
    if (event !== undefined) pending.resolve({ done: false, value: event })
    else if (this.#ended || this.#source.isClosed()) this.#finish(() => pending.resolve(DONE))
    else if (this.#signal?.aborted === true) this.#finish(() => pending.reject(this.#signal?.reason))
    else return false
    return true
  }

  #finish(answer: () => void): void {
    this.#ended = true
    answer()
  }

  #adjustWaiting(): void {
    if (this.#ended) this.#signal?.removeEventListener('abort', this.#onAbort)
    const wanted = this.#pending.length > 0
    if (wanted && this.#stopWaiting === undefined) this.#stopWaiting = this.#source.wait(() => this.#pump())
    if (wanted || this.#stopWaiting === undefined) return
    this.#stopWaiting()
    this.#stopWaiting = undefined
  }
}

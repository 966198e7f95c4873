import type { PreparedRequest } from '../verbs/index.ts'

/** Called once with the end of an operation; `error` is undefined if it succeeded. */
export type OperationDone = (error: unknown) => void

/** A request whose end is reported. */
export interface Operation {
  readonly request: PreparedRequest
  readonly name: string
  readonly done: OperationDone
}

/** Requests without a listener complete silently, except for one in this part of the queue. */
const SIGNALED_PART = 4

/**
 * The send queue of a link: what was posted, what is done, and operations that wait for room. The id of a request is
 * its number, from 1.
 */
export class SendRequests {
  readonly #capacity: number
  readonly #signalEvery: number
  readonly #operations = new Map<number, Operation>()
  /** Operations for which there was no room. */
  readonly #waiting: Operation[] = []
  /** Ended, and their programs not told yet. */
  readonly #settled: { readonly operation: Operation; readonly error: unknown }[] = []
  #posted = 0
  #done = 0
  #lastSignaled = 0

  constructor(capacity: number) {
    this.#capacity = capacity
    this.#signalEvery = Math.max(1, Math.floor(capacity / SIGNALED_PART))
  }

  /** The number of the last request posted. */
  get posted(): number {
    return this.#posted
  }

  /** All requests up to this number are done. */
  get done(): number {
    return this.#done
  }

  /** True if a request that makes a completion is under way. */
  get willTell(): boolean {
    return this.#lastSignaled > this.#done
  }

  /** True if this many may be posted. Waiting operations go first. */
  hasRoom(requests: number): boolean {
    return this.#fits(requests) && this.#waiting.length === 0
  }

  #fits(requests: number): boolean {
    return this.#posted - this.#done + requests <= this.#capacity
  }

  /** Post a request without a listener. There must be room. */
  post(request: PreparedRequest): void {
    const id = this.#posted + 1
    const signaled = id - this.#lastSignaled >= this.#signalEvery
    if (request.signaled !== signaled) request.signaled = signaled
    request.post(id)
    this.#posted = id
    if (signaled) this.#lastSignaled = id
  }

  /** As {@link post}, for a WRITE with an immediate of other bytes to another place. */
  postNext(request: PreparedRequest, local: number, length: number, remote: number, immediate: number): void {
    const id = this.#posted + 1
    const signaled = id - this.#lastSignaled >= this.#signalEvery
    request.postNext(id, signaled, local, length, remote, immediate)
    this.#posted = id
    if (signaled) this.#lastSignaled = id
  }

  /** Post a request that makes a completion. There must be room. */
  postSignaled(request: PreparedRequest): number {
    const id = this.#posted + 1
    request.signaled = true
    request.post(id)
    this.#posted = id
    this.#lastSignaled = id
    return id
  }

  /** Post it now, or as soon as there is room. */
  operate(operation: Operation): void {
    this.#waiting.push(operation)
    this.startWaiting()
  }

  /** Start waiting operations that have room now. */
  startWaiting(): void {
    while (this.#waiting.length > 0 && this.#fits(1)) {
      const operation = this.#waiting.shift()!
      try {
        this.#operations.set(this.postSignaled(operation.request), operation)
      } catch (error) {
        this.#settled.push({ operation, error })
      }
    }
  }

  completed(id: number): void {
    this.#done = id
    this.#settle(id, undefined)
  }

  /** Stop expecting completions that have a listener. */
  abandon(): void {
    this.#done = this.#posted
  }

  /** The name of a request's operation; `message` if it has no listener. */
  nameOf(id: number): string {
    return this.#operations.get(id)?.name ?? 'message'
  }

  failed(id: number, error: unknown): void {
    this.#settle(id, error)
  }

  #settle(id: number, error: unknown): void {
    const operation = this.#operations.get(id)
    if (operation === undefined) return
    this.#operations.delete(id)
    this.#settled.push({ operation, error })
  }

  /**
   * Report ended operations to programs. Not while completions are read, since programs may wait for further
   * operations. If one throws, the next call reports the rest.
   */
  tellSettled(): void {
    for (let next = this.#settled.shift(); next !== undefined; next = this.#settled.shift())
      next.operation.done(next.error)
  }

  /** Refuse an operation, since the link has ended. */
  refuse(operation: Operation, error: unknown): void {
    this.#settled.push({ operation, error })
    this.#tellLast()
  }

  /** End all operations that are under way or waiting with this error. */
  end(error: unknown): void {
    const left = [...this.#operations.values(), ...this.#waiting.splice(0)]
    this.#operations.clear()
    for (const operation of left) this.#settled.push({ operation, error })
    this.#tellLast()
  }

  /** What a program throws now ended the link, or would have: there is nothing left that it could end. */
  #tellLast(): void {
    while (this.#settled.length > 0) {
      try {
        this.tellSettled()
      } catch {
        // The next one.
      }
    }
  }
}

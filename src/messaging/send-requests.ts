import type { PreparedRequest } from '../verbs/index.ts'

/** Called once with the end of an operation: undefined where it was carried out. */
export type OperationDone = (error: unknown) => void

/** A request of whose end somebody is told. */
export interface Operation {
  readonly request: PreparedRequest
  readonly name: string
  readonly done: OperationDone
}

/** Requests of which nobody needs to hear complete without a word, but for one in so many of the queue. */
const SIGNALED_PART = 4

/**
 * The send queue of a link: what was posted and what is done, and operations that wait for room. The id of a request is
 * its number, from 1 on.
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

  /** The number of the last one. */
  get posted(): number {
    return this.#posted
  }

  /** All up to this one are done. */
  get done(): number {
    return this.#done
  }

  /** Whether one that makes a completion is under way. */
  get willTell(): boolean {
    return this.#lastSignaled > this.#done
  }

  /** Whether so many may be posted. Operations that wait come first. */
  hasRoom(requests: number): boolean {
    return this.#fits(requests) && this.#waiting.length === 0
  }

  #fits(requests: number): boolean {
    return this.#posted - this.#done + requests <= this.#capacity
  }

  /** Post one of which nobody needs to hear. There is room. */
  post(request: PreparedRequest): void {
    const id = this.#posted + 1
    const signaled = id - this.#lastSignaled >= this.#signalEvery
    if (request.signaled !== signaled) request.signaled = signaled
    request.post(id)
    this.#posted = id
    if (signaled) this.#lastSignaled = id
  }

  /** As {@link post}, a WRITE with an immediate of other bytes to another place. */
  postNext(request: PreparedRequest, local: number, length: number, remote: number, immediate: number): void {
    const id = this.#posted + 1
    const signaled = id - this.#lastSignaled >= this.#signalEvery
    request.postNext(id, signaled, local, length, remote, immediate)
    this.#posted = id
    if (signaled) this.#lastSignaled = id
  }

  /** Post one that makes a completion. There is room. */
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

  /** Those that waited and have room now. */
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

  /** Nothing more completes that anybody needs to hear of. */
  abandon(): void {
    this.#done = this.#posted
  }

  /** What this request was for; `message` where nobody is told of it. */
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
   * Tell programs of what has ended. Not while completions are read, since they may wait for further operations. Where
   * one throws, the rest is told by the next call.
   */
  tellSettled(): void {
    for (let next = this.#settled.shift(); next !== undefined; next = this.#settled.shift())
      next.operation.done(next.error)
  }

  /** One that is not posted any more, since the link has ended. */
  refuse(operation: Operation, error: unknown): void {
    this.#settled.push({ operation, error })
    this.#tellLast()
  }

  /** All that are under way or wait end with this. */
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

import { addAbortCallback, removeAbortCallback } from '../runtime/index.ts'
import type { MessageLink } from './message-link.ts'
import { type InLine, WaitingLine } from './waiting-line.ts'

/** Puts the message into the link's memory at the offset given. */
type Fill = (outgoing: Uint8Array, at: number) => void

/** The promise of a message that did not have to wait. */
export const DONE: Promise<void> = Promise.resolve()

/** A link that may limit the bytes that leave. */
export interface LimitedLink extends MessageLink {
  /** The time in milliseconds until this many bytes may leave without going through the ring; 0: now. */
  limitDelayMs(bytes: number): number
  /** Call `onAllowed` after this delay, or earlier. */
  wakeAllowed(delayMs: number): void
  onAllowed: () => void
  charge(bytes: number): void
}

/** One that has to wait. */
interface Waiting extends InLine {
  /** Leaves now, where it may. Throws what it failed by. */
  readonly leave: () => boolean
  /** Has the line moved when it may be its time. */
  readonly ask: () => void
  /** It has left, or failed. */
  readonly over: (error: unknown) => void
}

/**
 * What leaves one end, in the order of the calls, even if some of it waits. Messages wait for room, and for their time
 * under a limit. Operations on the peer's memory wait for their time. It is moved by the callers that report room or
 * time, and by a caller that blocks the thread.
 */
export class Outbox {
  readonly #link: LimitedLink
  readonly #line = new WaitingLine<Waiting>()
  #emptied: (() => void)[] = []
  #moving = false

  constructor(link: LimitedLink) {
    this.#link = link
    link.onAllowed = this.advance
  }

  /** Returns false if there is no room now, or others wait. */
  tryPut(length: number, immediate: number, kind: number, fill: Fill): boolean {
    return this.#line.length === 0 && this.#put(length, immediate, kind, fill)
  }

  /** `tryPut` for bytes, which makes no object. */
  tryCopy(data: Uint8Array, immediate: number, kind: number): boolean {
    if (this.#line.length > 0) return false
    const at = this.#link.reserve(data.length)
    if (at < 0) return false
    this.#link.outgoing.set(data, at)
    this.#link.commit(data.length, immediate, kind)
    return true
  }

  /** Resolves once the message is in the ring. */
  put(length: number, immediate: number, kind: number, fill: Fill, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason)
    if (this.tryPut(length, immediate, kind, fill)) return DONE
    return new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        // First: to move on may call the program.
        reject(signal?.reason)
        this.#remove(waiting)
      }
      let isAsked = false
      const answered = (): void => {
        isAsked = false
        this.advance()
      }
      const waiting: Waiting = {
        place: -1,
        leave: () => {
          // One signal may abort several: each of them is told of it by itself, and one after the other.
          signal?.throwIfAborted()
          return this.#put(length, immediate, kind, fill)
        },
        ask: () => {
          if (isAsked || signal?.aborted === true) return
          isAsked = true
          // What it rejects with `leave` throws.
          this.#link.writable(length, signal).then(answered, answered)
        },
        over: (error) => {
          if (signal !== undefined) removeAbortCallback(signal, abort)
          if (error === undefined) resolve()
          else reject(error)
        },
      }
      if (signal !== undefined) addAbortCallback(signal, abort)
      this.#wait(waiting)
    })
  }

  copy(data: Uint8Array, immediate: number, kind: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted !== true && this.tryCopy(data, immediate, kind)) return DONE
    return this.put(data.length, immediate, kind, (outgoing, at) => outgoing.set(data, at), signal)
  }

  /**
   * An operation that moves this many bytes without the ring. `post` is called when they may leave, now or later;
   * `failed` if that throws later. Call the returned function to cancel the operation; it returns false if it was
   * posted.
   */
  operate(bytes: number, post: () => void, failed: (error: unknown) => void): () => boolean {
    const leave = (): boolean => {
      if (this.#link.open && this.#link.limitDelayMs(bytes) > 0) return false
      this.#link.charge(bytes)
      post()
      return true
    }
    if (this.#line.length === 0 && leave()) return () => false
    const waiting: Waiting = {
      place: -1,
      leave,
      ask: () => this.#link.wakeAllowed(this.#link.limitDelayMs(bytes)),
      over: (error) => {
        if (error !== undefined) failed(error)
      },
    }
    this.#wait(waiting)
    return () => this.#remove(waiting)
  }

  /** Let all leave that may; once the link has ended, all others fail. */
  readonly advance = (): void => {
    this.move()
    this.#line.first?.ask()
  }

  /** The same for a caller that comes again by itself. */
  move(): void {
    if (this.#moving) return
    this.#moving = true
    try {
      for (let first = this.#line.first; first !== undefined && this.#leave(first); first = this.#line.first);
    } finally {
      this.#moving = false
    }
    if (this.#line.length === 0) for (const each of this.#emptied.splice(0)) each()
  }

  /** True if nothing waits. */
  get isEmpty(): boolean {
    return this.#line.length === 0
  }

  /** Resolves when nothing waits. */
  async drained(): Promise<void> {
    if (this.#line.length > 0) await new Promise<void>((resolve) => this.#emptied.push(resolve))
  }

  #put(length: number, immediate: number, kind: number, fill: Fill): boolean {
    const at = this.#link.reserve(length)
    if (at < 0) return false
    fill(this.#link.outgoing, at)
    this.#link.commit(length, immediate, kind)
    return true
  }

  #wait(waiting: Waiting): void {
    this.#line.push(waiting)
    if (this.#line.length === 1) waiting.ask()
  }

  /** It waits no longer: whether it did. */
  #remove(waiting: Waiting): boolean {
    const isFirst = this.#line.first === waiting
    const didWait = this.#line.remove(waiting)
    if (isFirst) this.advance()
    return didWait
  }

  /** Whether it has left, or failed. */
  #leave(waiting: Waiting): boolean {
    let error: unknown
    try {
      if (!waiting.leave()) return false
    } catch (cause) {
      error = cause
    }
    // What it called may have taken it out itself, by a signal: then it was told.
    if (!this.#line.remove(waiting)) return true
    try {
      waiting.over(error)
    } catch {
      // A handler of the program that was told of an operation's failure, when the link has ended: others have still to
      // be told.
    }
    return true
  }
}

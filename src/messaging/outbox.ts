import type { MessageLink } from './message-link.ts'

/** Puts the message into the link's memory at the offset given. */
type Fill = (outgoing: Uint8Array, at: number) => void

/** What is given for a message that did not have to wait. */
export const DONE: Promise<void> = Promise.resolve()

/** Messages of one end in the order of the calls, also where some of them wait for room. */
export class Outbox {
  readonly #link: MessageLink
  /** The end of the row of those who wait; undefined where nobody does. */
  #last: Promise<void> | undefined

  constructor(link: MessageLink) {
    this.#link = link
  }

  /** False where there is no room just now, or others wait. */
  tryPut(length: number, immediate: number, kind: number, fill: Fill): boolean {
    if (this.#last !== undefined) return false
    const at = this.#link.reserve(length)
    if (at < 0) return false
    fill(this.#link.outgoing, at)
    this.#link.commit(length, immediate, kind)
    return true
  }

  /** `tryPut` for bytes, which makes nothing. */
  tryCopy(data: Uint8Array, immediate: number, kind: number): boolean {
    if (this.#last !== undefined) return false
    const at = this.#link.reserve(data.length)
    if (at < 0) return false
    this.#link.outgoing.set(data, at)
    this.#link.commit(data.length, immediate, kind)
    return true
  }

  /** Resolves once it is in the ring. */
  put(length: number, immediate: number, kind: number, fill: Fill, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason)
    if (this.tryPut(length, immediate, kind, fill)) return DONE
    const turn = (this.#last ?? DONE).then(() => this.#wait(length, immediate, kind, fill, signal))
    const last = turn
      .catch(() => {})
      .then(() => {
        if (this.#last === last) this.#last = undefined
      })
    this.#last = last
    return turn
  }

  copy(data: Uint8Array, immediate: number, kind: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted !== true && this.tryCopy(data, immediate, kind)) return DONE
    return this.put(data.length, immediate, kind, (outgoing, at) => outgoing.set(data, at), signal)
  }

  /** Resolves when nobody waits. */
  async drained(): Promise<void> {
    while (this.#last !== undefined) await this.#last
  }

  async #wait(
    length: number,
    immediate: number,
    kind: number,
    fill: Fill,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    signal?.throwIfAborted()
    for (;;) {
      const at = this.#link.reserve(length)
      if (at >= 0) {
        fill(this.#link.outgoing, at)
        this.#link.commit(length, immediate, kind)
        return
      }
      await this.#link.writable(length, signal)
    }
  }
}

import type { Loan, MemoryLending, RegisteredBuffer } from '../messaging/index.ts'

/** What is kept for the next bodies at most, and how long for nothing. */
const KEPT_BYTES_MAX = 16 << 20
const IDLE_MS = 2000

/** Memory in which a body lies for the peer. The peer may read all of it. */
export interface Shelf {
  readonly buffer: RegisteredBuffer
  readonly loan: Loan
}

/**
 * Memory in which bodies lie for the peer of one link, one after the other. If it is lent by windows, only this peer
 * may read it.
 *
 * 1. It stays lent between two bodies: binding and revoking for each would cost more than copying.
 * 2. The peer says that it is done with a body only when none of its READs can be repeated. So the key may be revoked
 *    at any time after that.
 */
export class BodyShelves {
  readonly #lending: MemoryLending
  #kept: Shelf[] = []
  #keptBytes = 0
  #ended = false
  #idle: NodeJS.Timeout | undefined

  constructor(lending: MemoryLending) {
    this.#lending = lending
  }

  /** Take at least this many bytes. Throws what `lend` throws. */
  take(lengthBytes: number): Shelf {
    const index = this.#kept.findIndex(({ buffer }) => buffer.bytes.length >= lengthBytes)
    if (index < 0) return this.#make(lengthBytes)
    const [shelf] = this.#kept.splice(index, 1) as [Shelf]
    this.#keptBytes -= shelf.buffer.bytes.length
    return shelf
  }

  #make(lengthBytes: number): Shelf {
    const lending = this.#lending
    const buffer = lending.take(lengthBytes)
    try {
      const loan = lending.lend({ buffer }, 'read')
      loan.onOver = () => lending.giveBack(buffer)
      return { buffer, loan }
    } catch (error) {
      lending.giveBack(buffer)
      throw error
    }
  }

  /** The peer is done with what lay there. */
  giveBack(shelf: Shelf): void {
    const { length } = shelf.buffer.bytes
    if (this.#ended || this.#keptBytes + length > KEPT_BYTES_MAX) {
      void shelf.loan.end(true, false)
      return
    }
    this.#kept.push(shelf)
    this.#keptBytes += length
    if (this.#idle === undefined) this.#idle = setTimeout(() => this.#clear(), IDLE_MS).unref()
    else this.#idle.refresh()
  }

  /** The link has ended, and with it the loans. */
  end(): void {
    this.#ended = true
    clearTimeout(this.#idle)
    this.#kept = []
  }

  /** Idle memory is not waited for: a peer that is stopped in the middle of an access keeps it until it goes on. */
  #clear(): void {
    this.#idle = undefined
    this.#keptBytes = 0
    for (const { loan } of this.#kept.splice(0)) void loan.end(true, false)
  }
}

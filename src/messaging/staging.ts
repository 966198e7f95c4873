import { closeSurely } from './close-surely.ts'
import type { RegisteredBuffer } from './memory-range.ts'

/** What is kept for the next long message at most. */
const KEPT_BYTES_MAX = 16 << 20
const LEAST_BYTES = 64 << 10
/** What was kept so long for nothing is given back. */
const IDLE_MS = 2000

/**
 * Registered memory for messages that do not go through the ring. Registering costs more than copying, so some memory
 * is kept for a while.
 */
export class Staging {
  readonly #allocate: (lengthBytes: number) => RegisteredBuffer
  readonly #kept: RegisteredBuffer[] = []
  #keptBytes = 0
  #closed = false
  #idle: NodeJS.Timeout | undefined

  constructor(allocate: (lengthBytes: number) => RegisteredBuffer) {
    this.#allocate = allocate
  }

  /** At least `length` bytes, with arbitrary contents. */
  take(length: number): RegisteredBuffer {
    const index = this.#kept.findIndex((buffer) => buffer.bytes.length >= length)
    if (index < 0) return this.#allocate(2 ** Math.ceil(Math.log2(Math.max(length, LEAST_BYTES))))
    const [buffer] = this.#kept.splice(index, 1) as [RegisteredBuffer]
    this.#keptBytes -= buffer.bytes.length
    return buffer
  }

  giveBack(buffer: RegisteredBuffer): void {
    if (this.#closed || this.#keptBytes + buffer.bytes.length > KEPT_BYTES_MAX) {
      closeSurely(buffer)
      return
    }
    this.#keptBytes += buffer.bytes.length
    this.#kept.push(buffer)
    if (this.#idle === undefined) this.#idle = setTimeout(() => this.#giveUp(), IDLE_MS).unref()
    else this.#idle.refresh()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#idle)
    this.#giveUp()
  }

  #giveUp(): void {
    this.#idle = undefined
    this.#keptBytes = 0
    for (const buffer of this.#kept.splice(0)) closeSurely(buffer)
  }
}

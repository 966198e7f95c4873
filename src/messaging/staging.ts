import type { RegisteredBuffer } from './message-link.ts'

/** What is kept for the next long message at most. */
const KEPT_BYTES_MAX = 16 << 20
const LEAST_BYTES = 64 << 10

/** Registered memory for messages that do not go through the ring. Registering costs more than copying, so some of it is kept. */
export class Staging {
  readonly #allocate: (lengthBytes: number) => RegisteredBuffer
  readonly #kept: RegisteredBuffer[] = []
  #keptBytes = 0
  #closed = false

  constructor(allocate: (lengthBytes: number) => RegisteredBuffer) {
    this.#allocate = allocate
  }

  /** At least `length` bytes, with whatever lies in them. */
  take(length: number): RegisteredBuffer {
    const index = this.#kept.findIndex((buffer) => buffer.bytes.length >= length)
    if (index < 0) return this.#allocate(2 ** Math.ceil(Math.log2(Math.max(length, LEAST_BYTES))))
    const [buffer] = this.#kept.splice(index, 1) as [RegisteredBuffer]
    this.#keptBytes -= buffer.bytes.length
    return buffer
  }

  giveBack(buffer: RegisteredBuffer): void {
    if (this.#closed || this.#keptBytes + buffer.bytes.length > KEPT_BYTES_MAX) {
      buffer.close()
      return
    }
    this.#keptBytes += buffer.bytes.length
    this.#kept.push(buffer)
  }

  close(): void {
    this.#closed = true
    for (const buffer of this.#kept.splice(0)) buffer.close()
  }
}

import type { AcceptorLink } from './acceptor-link.ts'

/**
 * A leader's way to its own acceptor where the processor's atomics and those of the device exclude each other. It costs
 * no requests. What was asked for is done at once, and told of in a later turn, as by a device.
 */
export class OwnLink implements AcceptorLink {
  readonly isUp: boolean = true
  readonly #bytes: Uint8Array
  readonly #words: BigUint64Array
  #told: (() => void)[] = []

  /** `bytes`: of the region. Words lie in its head. */
  constructor(bytes: Uint8Array, headBytes: number) {
    this.#bytes = bytes
    this.#words = new BigUint64Array(bytes.buffer, bytes.byteOffset, headBytes / 8)
  }

  write(bytes: Uint8Array, offset: number): void {
    this.#bytes.set(bytes, offset)
  }

  writeWord(value: number, offset: number): void {
    Atomics.store(this.#words, offset / 8, BigInt(value))
  }

  store(word: bigint, offset: number, done: () => void): void {
    Atomics.store(this.#words, offset / 8, word)
    this.#told.push(done)
  }

  read(offset: number, length: number, done: (bytes: Uint8Array) => void): void {
    const bytes = this.#bytes.slice(offset, offset + length)
    this.#told.push(() => done(bytes))
  }

  compareSwap(offset: number, expected: bigint, next: bigint, done: (before: bigint) => void): void {
    const before = Atomics.compareExchange(this.#words, offset / 8, expected, next)
    this.#told.push(() => done(before))
  }

  /** Tell what was done before. True if there was anything. */
  tell(): boolean {
    if (this.#told.length === 0) return false
    const told = this.#told
    this.#told = []
    for (const tell of told) tell()
    return true
  }
}

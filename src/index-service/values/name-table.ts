import { latin1Of } from './latin1.ts'

/** Names of this length have a number: their bytes, and their length. */
const SHORT_BYTES_MAX = 6
const KNOWN_MAX = 512

/** What names stand for, looked up by their bytes: those that are asked often are short, and few. */
export class NameTable<T> {
  readonly #known = new Map<number, T>()
  /** Mostly the next name is the same. */
  #lastCode = -1
  #last: T | undefined
  readonly #make: (name: string) => T

  /** `make`: what a name stands for, as latin1. */
  constructor(make: (name: string) => T) {
    this.#make = make
  }

  /** Of the `length` bytes at `start`. */
  at(bytes: Uint8Array, start: number, length: number): T {
    if (length > SHORT_BYTES_MAX) return this.#make(latin1Of(bytes.subarray(start, start + length)))
    let code = length
    for (let at = start; at < start + length; at += 1) code = code * 256 + bytes[at]!
    if (code !== this.#lastCode) {
      this.#last = this.#lookUp(code, bytes, start, length)
      this.#lastCode = code
    }
    return this.#last as T
  }

  #lookUp(code: number, bytes: Uint8Array, start: number, length: number): T {
    const known = this.#known.get(code)
    if (known !== undefined || this.#known.has(code)) return known as T
    const made = this.#make(latin1Of(bytes.subarray(start, start + length)))
    if (this.#known.size < KNOWN_MAX) this.#known.set(code, made)
    return made
  }
}

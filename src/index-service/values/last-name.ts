import { latin1Of } from './latin1.ts'

const KEPT_BYTES_MAX = 64

/** Names of keys as latin1. The last one is kept: a command asks for it several times, and to make it takes long. */
export class LastName {
  readonly #bytes = new Uint8Array(KEPT_BYTES_MAX)
  #name = ''

  of(key: Uint8Array): string {
    if (key.length > KEPT_BYTES_MAX) return latin1Of(key)
    if (this.#isOf(key)) return this.#name
    this.#bytes.set(key)
    this.#name = latin1Of(key)
    return this.#name
  }

  #isOf(key: Uint8Array): boolean {
    if (key.length !== this.#name.length) return false
    for (let at = 0; at < key.length; at += 1) if (key[at] !== this.#bytes[at]) return false
    return true
  }
}

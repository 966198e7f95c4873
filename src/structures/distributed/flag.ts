import type { Flag } from '../flag.ts'
import type { WaitOptions } from '../waiting/bell.ts'
import type { HomeWords } from './home-words.ts'
import type { Promised } from './promised.ts'
import { waitFor } from './waiting.ts'

/** Bytes of a flag's body. */
export const FLAG_BYTES = 8

/**
 * Up or down, the same for all ranks of a group; as {@link Flag} on one machine. One word that is 0 or 1: `raise` and `lower` are one compare-and-swap, `isRaised` one READ, a round trip each;
 * `wait` looks again and again.
 */
export class GroupFlag implements Promised<Flag> {
  readonly name: string
  readonly #home: HomeWords
  readonly #offset: number

  /** @internal */
  constructor(name: string, home: HomeWords, offset: number) {
    this.name = name
    this.#home = home
    this.#offset = offset
  }

  /** Put it up; true when it was down. @throws HomeLostError, of all methods. */
  async raise(options?: WaitOptions): Promise<boolean> {
    options?.signal?.throwIfAborted()
    return (await this.#home.compareExchange64(this.#offset, 0n, 1n)) === 0n
  }

  /** Put it down; true when it was up. */
  async lower(options?: WaitOptions): Promise<boolean> {
    options?.signal?.throwIfAborted()
    return (await this.#home.compareExchange64(this.#offset, 1n, 0n)) === 1n
  }

  async isRaised(options?: WaitOptions): Promise<boolean> {
    options?.signal?.throwIfAborted()
    return (await this.#home.load64(this.#offset)) === 1n
  }

  /** Resolves when it is up. */
  async wait(options?: WaitOptions): Promise<void> {
    await waitFor(this.#home.words, async () => (await this.isRaised()) || undefined, options)
  }
}

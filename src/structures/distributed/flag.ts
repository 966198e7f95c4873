import { checkAbort } from '../../native/index.ts'
import type { Flag } from '../flag.ts'
import type { WaitOptions } from '../waiting/wait-options.ts'
import type { HomeMemory } from './heap/home-memory.ts'
import { CompareExchangeCommand } from './memory/command.ts'
import type { Promised } from './memory/promised.ts'
import type { GroupBell } from './waiting/group-bell.ts'

/**
 * A flag, up or down, the same for all ranks of a group; as {@link Flag} on one machine. It is one word that is 0 or 1.
 * `raise` and `lower` are one compare-and-swap, `isRaised` is one READ: a round trip each. `wait` is one round trip if
 * the flag is up, else two until it sleeps, and one when it is woken (waiting/group-bell.ts).
 */
export class GroupFlag implements Promised<Flag> {
  readonly name: string
  readonly #memory: HomeMemory
  readonly #offset: number
  readonly #bell: GroupBell

  /** @internal */
  constructor(name: string, memory: HomeMemory, offset: number) {
    this.name = name
    this.#memory = memory
    this.#offset = offset
    this.#bell = memory.bell(offset + 8, 'all')
  }

  /** Raise the flag. True if it was down. @throws HomeLostError, of all methods. */
  async raise(options?: WaitOptions): Promise<boolean> {
    checkAbort('raise', options)
    const swap = new CompareExchangeCommand(this.#offset, 0n, 1n)
    const waiting = this.#bell.read()
    await this.#memory.run([swap, waiting])
    if (swap.swapped) void this.#bell.ring(waiting)
    return swap.swapped
  }

  /** Lower the flag. True if it was up. */
  async lower(options?: WaitOptions): Promise<boolean> {
    checkAbort('lower', options)
    return (await this.#memory.compareExchange64(this.#offset, 1n, 0n)) === 1n
  }

  async isRaised(options?: WaitOptions): Promise<boolean> {
    checkAbort('isRaised', options)
    return (await this.#memory.load64(this.#offset)) === 1n
  }

  /** Resolves when it is up. */
  async wait(options?: WaitOptions): Promise<void> {
    checkAbort('wait', options)
    await this.#bell.wait(async () => (await this.isRaised()) || undefined, options)
  }
}

import { checkAbort, checkFunction } from '../../native/index.ts'
import type { WaitDescription } from '../../profiling/index.ts'
import type { Once } from '../once.ts'
import type { WaitOptions } from '../waiting/wait-options.ts'
import { CompareExchangeCommand } from './command.ts'
import type { GroupBell } from './group-bell.ts'
import { describeHold, endedHold, isHeld, nextHold } from './hold-word.ts'
import type { HomeWords } from './home-words.ts'
import type { Promised } from './promised.ts'
import { waitingRanksBytes } from './waiting-ranks.ts'

/** Bytes of a once's body: its word, and the marks of the waiters. */
export function onceBytes(ranks: number): number {
  return 8 + waitingRanksBytes(ranks)
}

/** No hold has this word. */
const DONE = 0xffff_ffff_ffff_ffffn

/**
 * Work that one rank of a group does, and all others find done; as {@link Once} on one machine. One word says which
 * rank does it (hold-word.ts), or that it is done. `run` is a READ and a compare-and-swap before the work, two round
 * trips, and a compare-and-swap after it. If a rank dies in between, the work is not done, and the next rank does it.
 */
export class GroupOnce implements Promised<Once> {
  readonly name: string
  readonly #home: HomeWords
  readonly #offset: number
  readonly #bell: GroupBell
  /** Its word when this rank looked last. */
  #seen = 0n

  /** @internal */
  constructor(name: string, home: HomeWords, offset: number) {
    this.name = name
    this.#home = home
    this.#offset = offset
    this.#bell = home.bell(offset + 8, 'all')
  }

  /**
   * Run `work` once for all ranks together. Resolves when it is done: true if this call did it. If `work` throws, or
   * its rank dies, it is not done, and the next caller runs it. So it must be safe to start it again. @throws
   * HomeLostError, also if the home is lost after the work.
   */
  async run(work: () => unknown, options?: WaitOptions): Promise<boolean> {
    checkFunction('work', work, 'without parameters')
    checkAbort('run', options)
    const describe = (): WaitDescription => describeHold(`${this.#home.what} to be done`, this.#seen)
    const own = await this.#bell.wait(() => this.#attempt(), { ...options, describe })
    if (own === DONE) return false
    try {
      await work()
    } catch (error) {
      // If the home is lost there is nothing to release; the error to report is that of the work.
      await this.#replace(own, endedHold(own)).catch(() => {})
      throw error
    }
    await this.#replace(own, DONE)
    return true
  }

  async isDone(options?: WaitOptions): Promise<boolean> {
    checkAbort('isDone', options)
    return (await this.#home.load64(this.#offset)) === DONE
  }

  /** A waiter sees that it is done, or does it. */
  async #replace(own: bigint, by: bigint): Promise<void> {
    const waiting = this.#bell.read()
    await this.#home.run([new CompareExchangeCommand(this.#offset, own, by), waiting])
    void this.#bell.ring(waiting)
  }

  /** The word of this rank's hold, or that it is done; undefined while another does it. */
  async #attempt(): Promise<bigint | undefined> {
    const { words } = this.#home
    const seen = await this.#home.load64(this.#offset)
    this.#seen = seen
    if (seen === DONE) return DONE
    if (isHeld(words, seen)) return undefined
    const own = nextHold(seen, words.rank)
    return (await this.#home.compareExchange64(this.#offset, seen, own)) === seen ? own : undefined
  }
}

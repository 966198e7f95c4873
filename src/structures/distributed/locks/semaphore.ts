import { checkAbort } from '../../../native/index.ts'
import { Permit, type Semaphore } from '../../semaphore.ts'
import type { WaitOptions } from '../../waiting/wait-options.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import type { Promised } from '../memory/promised.ts'
import type { GroupBell } from '../waiting/group-bell.ts'
import { GroupHolds } from './holds.ts'

/**
 * At most N holders at a time, among the ranks of a group; as {@link Semaphore} on one machine. There is a word for
 * each permit (hold-word.ts), so there is no count that a death could leave wrong. `tryAcquire` is a READ of all words
 * and a compare-and-swap on one that is free: two round trips. It takes one more for each permit that another rank took
 * meanwhile.
 *
 * It takes effect in the compare-and-swap. If it returns undefined, every permit was held when the READ saw it, though
 * not all at one moment.
 */
export class GroupSemaphore implements Promised<Semaphore> {
  readonly name: string
  readonly permits: number
  readonly #memory: HomeMemory
  readonly #offset: number
  readonly #bell: GroupBell
  readonly #holds: GroupHolds
  /** Where to look first: away from what others take. */
  #next: number

  /** @internal */
  constructor(name: string, memory: HomeMemory, offset: number, permits: number) {
    this.name = name
    this.permits = permits
    this.#memory = memory
    this.#offset = offset
    this.#bell = memory.bell(offset + permits * 8, 'one')
    this.#holds = new GroupHolds(memory, this.#bell)
    this.#next = memory.group.rank % permits
  }

  /** Resolves when this rank has a permit. @throws HomeLostError, of all methods. */
  async acquire(options?: WaitOptions): Promise<Permit> {
    checkAbort('acquire', options)
    return await this.#bell.wait(() => this.#attempt(), options)
  }

  /** Take a permit; undefined if all are taken. */
  async tryAcquire(options?: WaitOptions): Promise<Permit | undefined> {
    checkAbort('tryAcquire', options)
    return await this.#attempt()
  }

  /** How many permits are free now. */
  async available(options?: WaitOptions): Promise<number> {
    checkAbort('available', options)
    return (await this.#free()).length
  }

  async #attempt(): Promise<Permit | undefined> {
    for (const { index, seen } of await this.#free()) {
      const offset = this.#offset + index * 8
      const { word } = await this.#memory.claim(offset, this.#holds, seen)
      if (word === undefined) continue
      this.#next = index
      const hold = this.#holds.hold(offset, word)
      return new Permit(() => void hold.release())
    }
    return undefined
  }

  /** Permits that no live rank holds, from where this rank looks first. */
  async #free(): Promise<{ readonly index: number; readonly seen: bigint }[]> {
    const read = await this.#memory.read(this.#offset, this.permits * 8)
    const all = Array.from({ length: this.permits }, (_, at) => {
      const index = (this.#next + at) % this.permits
      return { index, seen: read.word(index * 8) }
    })
    return all.filter(({ seen }) => this.#holds.isFree(seen))
  }
}

import { checkAbort } from '../../../native/index.ts'
import { type Mutex, MutexHold } from '../../mutex.ts'
import type { WaitOptions } from '../../waiting/wait-options.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import type { Promised } from '../memory/promised.ts'
import type { GroupBell } from '../waiting/group-bell.ts'
import { tokenOf } from './hold-word.ts'
import { GroupHolds } from './holds.ts'

/**
 * At most one holder at a time, among the ranks of a group; as {@link Mutex} on one machine. Its state is one word
 * (hold-word.ts), so one compare-and-swap takes it, counts the holds and names the holder. `tryLock` is a READ and
 * that, two round trips; release is one, which the caller does not wait for. A rank that dies before the
 * compare-and-swap does not hold it. One that dies after it held it, and the next rank that asks takes it over.
 */
export class GroupMutex implements Promised<Mutex> {
  readonly name: string
  readonly #memory: HomeMemory
  readonly #offset: number
  readonly #bell: GroupBell
  readonly #holds: GroupHolds

  /** @internal */
  constructor(name: string, memory: HomeMemory, offset: number) {
    this.name = name
    this.#memory = memory
    this.#offset = offset
    this.#bell = memory.bell(offset + 8, 'one')
    this.#holds = new GroupHolds(memory, this.#bell)
  }

  /** Resolves when this rank holds it. @throws HomeLostError, of all methods. */
  async lock(options?: WaitOptions): Promise<MutexHold> {
    checkAbort('lock', options)
    const describe = () => this.#holds.describe(this.#memory.what)
    return await this.#bell.wait(() => this.#attempt(), { ...options, describe })
  }

  /** Take the mutex if it is free; undefined if another rank holds it. */
  async tryLock(options?: WaitOptions): Promise<MutexHold | undefined> {
    checkAbort('tryLock', options)
    return await this.#attempt()
  }

  async #attempt(): Promise<MutexHold | undefined> {
    const { claim, word } = await this.#holds.claim(this.#offset)
    if (word === undefined) return undefined
    const hold = this.#holds.hold(this.#offset, word)
    return new MutexHold(tokenOf(word), claim === 'abandoned', () => void hold.release())
  }
}

import { ClosedError, checkAbort, checkFunction } from '../../../native/index.ts'
import type { Once } from '../../once.ts'
import type { WaitOptions } from '../../waiting/wait-options.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import type { Promised } from '../memory/promised.ts'
import type { GroupBell } from '../waiting/group-bell.ts'
import { DONE } from './hold-word.ts'
import { type GroupHold, GroupHolds } from './holds.ts'

/**
 * Work that one rank of a group does, and all others find done; as {@link Once} on one machine. One word says which
 * rank does it (hold-word.ts), or that it is done. `run` is a READ and a compare-and-swap before the work, two round
 * trips, and a compare-and-swap after it. If a rank dies in between, the work is not done, and the next rank does it.
 */
export class GroupOnce implements Promised<Once> {
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
    this.#bell = memory.bell(offset + 8, 'all')
    this.#holds = new GroupHolds(memory, this.#bell)
  }

  /**
   * Run `work` once for all ranks together. Resolves when it is done: true if this call did it. If `work` throws, or
   * its rank dies, it is not done, and the next caller runs it. So it must be safe to start it again.
   * @throws HomeLostError, also if the home is lost after the work.
   * @throws ClosedError if the structures were closed meanwhile: the work was given up, and no rank will know that it
   *   was done.
   */
  async run(work: () => unknown, options?: WaitOptions): Promise<boolean> {
    checkFunction('work', work, 'without parameters')
    checkAbort('run', options)
    const describe = () => this.#holds.describe(`${this.#memory.what} to be done`)
    const hold = await this.#bell.wait(() => this.#attempt(), { ...options, describe })
    if (hold === 'done') return false
    try {
      await work()
    } catch (error) {
      await hold.release()
      throw error
    }
    if (!(await hold.finish())) throw new ClosedError('the structures of the group')
    return true
  }

  async isDone(options?: WaitOptions): Promise<boolean> {
    checkAbort('isDone', options)
    return (await this.#memory.load64(this.#offset)) === DONE
  }

  /** Undefined while another does it. */
  async #attempt(): Promise<GroupHold | 'done' | undefined> {
    const { claim, word } = await this.#holds.claim(this.#offset)
    if (claim === 'done') return claim
    return word === undefined ? undefined : this.#holds.hold(this.#offset, word)
  }
}

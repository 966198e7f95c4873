import type { Periods } from '../../rcu/callbacks.ts'
import type { WaitOptions } from '../../waiting/wait-options.ts'
import type { GroupMemory } from '../memory/group-memory.ts'
import { GracePeriod } from './grace-period.ts'
import type { ReadSections } from './read-sections.ts'
import type { ReaderBells } from './reader-bells.ts'

/** A moment; see {@link GroupRcu.getState}. */
export interface GroupGracePeriodState {
  /** @internal but declared, for a type names it: grace periods that this rank had begun by then. */
  readonly begun: number
}

/**
 * The grace periods that this rank waits for, one after the other. A period that begins later than a moment, and is
 * over, is over for that moment too.
 */
export class GroupGracePeriods implements Periods<GroupGracePeriodState> {
  readonly #group: GroupMemory
  readonly #sections: ReadSections
  readonly #readers: ReaderBells
  #begun = 0
  #over = 0
  #present: GracePeriod | undefined

  constructor(group: GroupMemory, sections: ReadSections, readers: ReaderBells) {
    this.#group = group
    this.#sections = sections
    this.#readers = readers
  }

  state(): GroupGracePeriodState {
    return { begun: this.#begun }
  }

  hasPassed({ begun }: GroupGracePeriodState): boolean {
    return this.#over > begun
  }

  /** Whether it has passed, after a look at the awaited ranks. */
  async poll(state: GroupGracePeriodState): Promise<boolean> {
    while (!this.hasPassed(state)) {
      const period = this.#present ?? this.#begin()
      await period.look()
      if (!period.isOver) return false
      if (this.#present === period) {
        this.#present = undefined
        this.#over = this.#begun
      }
    }
    return true
  }

  /** However long that takes: a rank that cannot be reached is waited for until the group has given it up. */
  async wait(state: GroupGracePeriodState, options?: WaitOptions): Promise<void> {
    await this.#wait(() => this.poll(state), options)
  }

  /** The same, but an unreachable rank is waited for only for a bounded time. @throws HomeLostError */
  async waitBounded(state: GroupGracePeriodState, options?: WaitOptions): Promise<void> {
    const look = async (): Promise<boolean> => {
      const hasPassed = await this.poll(state)
      if (!hasPassed) this.#present?.checkReached()
      return hasPassed
    }
    await this.#wait(look, options)
  }

  async #wait(look: () => Promise<boolean>, options?: WaitOptions): Promise<void> {
    await this.#readers.wait(look, () => this.#present?.waitedFor ?? [], options)
  }

  #begin(): GracePeriod {
    this.#begun += 1
    this.#present = new GracePeriod(this.#group, this.#sections)
    return this.#present
  }
}

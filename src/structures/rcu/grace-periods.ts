import type { Heap } from '../heap/heap.ts'
import type { BlockOptions, WaitOptions } from '../waiting/wait-options.ts'

/** A moment; see {@link Rcu.getState}. */
export interface GracePeriodState {
  /** @internal */
  readonly epoch: number
}

/**
 * A grace period is over when all sections that were open when it began have ended. This is what epochs are for:
 * 1. A reader's section is a stay inside (../heap/epochs.ts).
 * 2. When the epoch has advanced twice since a moment, all members that were inside then have left.
 * 3. One advance is not enough: a member that entered in the middle of it may have written the epoch before.
 *
 * Dead members are not waited for. The operating system knows at once whether a member that holds up an epoch is dead.
 */
export class GracePeriods {
  readonly #heap: Heap

  constructor(heap: Heap) {
    this.#heap = heap
  }

  state(): GracePeriodState {
    return { epoch: this.#heap.epochs.now }
  }

  /**
   * Whether a grace period has passed since; helps it on. `ask`: find out whether members that hold it up are alive.
   */
  hasPassed({ epoch }: GracePeriodState, ask: boolean): boolean {
    const { epochs } = this.#heap
    while (!epochs.hasPassed(epoch)) if (epochs.advance(ask) >= 0) return epochs.hasPassed(epoch)
    return true
  }

  async wait(state: GracePeriodState, options?: WaitOptions): Promise<void> {
    await this.#heap.left.wait((ask) => this.hasPassed(state, ask) || undefined, options)
  }

  waitSync(state: GracePeriodState, options?: BlockOptions): void {
    this.#heap.left.waitSync((ask) => this.hasPassed(state, ask) || undefined, 'readers to leave', options)
  }
}

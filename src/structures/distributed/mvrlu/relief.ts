import type { NamedObjects } from '../heap/census.ts'
import type { GroupGracePeriodState } from '../rcu/grace-periods.ts'
import type { Readers } from '../rcu/group-rcu.ts'
import { mvRluCoreAt, type ObjectHeap } from './open-objects.ts'

/** How long to wait for sections that have begun by then. If that was in vain, no call waits again for as long. */
const WAIT_MS_MAX = 50
const WAIT_AGAIN_MS = 1000
const PAUSE_MS_MAX = 8

/**
 * Cuts off old versions of all objects of a home for a rank that is short of memory there. It does so whatever the
 * memory is for, and whichever ranks have opened the objects.
 */
export class MvRluRelief {
  readonly #heap: ObjectHeap
  readonly #readers: Readers
  #notBeforeMs = 0

  constructor(heap: ObjectHeap, readers: Readers) {
    this.#heap = heap
    this.#readers = readers
  }

  /** Whether there may be blocks now that nothing names any more. */
  async cut(objects: readonly NamedObjects[]): Promise<boolean> {
    const cut = await Promise.all(
      objects.map(async ({ name, offset }) => {
        const { collector } = mvRluCoreAt(this.#heap, name, offset, [], this.#readers)
        return await collector.collectAll((state) => this.#waitFor(state))
      }),
    )
    return cut.includes(true)
  }

  /** Most sections last for a few round trips. Not for those of this rank, one of which may wait for this. */
  async #waitFor(state: GroupGracePeriodState): Promise<boolean> {
    const { group } = this.#heap
    const { periods, sections } = this.#readers
    const endMs = group.nowMs() + WAIT_MS_MAX
    for (let pauseMs = 0.25; !(await periods.poll(state)); pauseMs = Math.min(PAUSE_MS_MAX, 2 * pauseMs)) {
      if (sections.any || group.nowMs() < this.#notBeforeMs) return false
      if (group.nowMs() >= endMs) {
        this.#notBeforeMs = group.nowMs() + WAIT_AGAIN_MS
        return false
      }
      await group.sleep(pauseMs)
    }
    return true
  }
}

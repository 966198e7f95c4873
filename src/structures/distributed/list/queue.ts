import { checkIteration } from '../../../native/index.ts'
import type { SharedQueue } from '../../list/queue.ts'
import type { WaitOptions } from '../../waiting/wait-options.ts'
import type { Promised } from '../memory/promised.ts'
import { GroupList } from './group-list.ts'

/**
 * First in, first out, among many producers and many consumers of a group; as {@link SharedQueue} on one machine. Each
 * value is taken once. See queue-core.ts for why, and for what a rank that dies leaves behind.
 */
export class GroupQueue<V> extends GroupList<V> implements Promised<SharedQueue<V>> {
  /** Take values as they come, for ever. Leaving the loop ends it. */
  values(options?: WaitOptions): AsyncGenerator<V, undefined> {
    checkIteration('values', options)
    return this.#values(options)
  }

  async *#values(options?: WaitOptions): AsyncGenerator<V, undefined> {
    for (;;) yield await this.pop(options)
  }

  [Symbol.asyncIterator](): AsyncGenerator<V, undefined> {
    return this.values()
  }
}

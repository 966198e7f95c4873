import { checkIteration } from '../../native/index.ts'
import type { WaitOptions } from '../waiting/wait-options.ts'
import { ValueList } from './value-list.ts'

/** First in, first out, among many producers and many consumers. Each value is taken once. */
export class SharedQueue<V> extends ValueList<V> implements AsyncIterable<V> {
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

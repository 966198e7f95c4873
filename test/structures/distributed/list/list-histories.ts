import assert from 'node:assert/strict'
import { Random } from '../../../../src/runtime/index.ts'
import type { GroupList } from '../../../../src/structures/index.ts'
import {
  boundedQueueModel,
  boundedStackModel,
  checkLinearizable,
  type HistoryCall,
  type ListInput,
} from '../../../../tools/linearizability/index.ts'

export const listKinds = ['queue', 'stack'] as const
export type ListKind = (typeof listKinds)[number]

type Call = { input: ListInput; calledAt: number; returned: { at: number; output: number } | undefined }

/** What clients saw of a queue, or of a stack. Times may be equal only where calls may have overlapped. */
export class ListHistories {
  readonly #calls: Call[] = []
  readonly #now: () => number
  #value = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /** Pushes and pops drawn from a seed, one after the other. */
  async makeCalls(list: GroupList<number>, seed: number, calls: number): Promise<void> {
    const random = new Random(seed)
    for (let call = 0; call < calls; call += 1) {
      this.#value += 1
      const value = this.#value
      if (random.below(2) === 0)
        await this.#call({ type: 'push', value }, async () => Number(await list.tryPush(value)))
      else await this.#call({ type: 'pop' }, async () => (await list.tryPop()) ?? 0)
    }
  }

  /** Take what is left, one after the other. */
  async drain(list: GroupList<number>): Promise<void> {
    for (let value = -1; value !== 0; )
      value = await this.#call({ type: 'pop' }, async () => (await list.tryPop()) ?? 0)
  }

  /** @throws AssertionError where no order explains what was seen. */
  check(kind: ListKind, capacity: number, what: string): void {
    const model = kind === 'queue' ? boundedQueueModel(capacity) : boundedStackModel(capacity)
    const history = this.#calls as readonly HistoryCall<ListInput, number>[]
    const { verdict } = checkLinearizable(model, history)
    assert.equal(verdict, 'linearizable', `${what}, ${kind}: ${JSON.stringify(this.#calls)}`)
  }

  async #call(input: ListInput, make: () => Promise<number>): Promise<number> {
    const call: Call = { input, calledAt: this.#now(), returned: undefined }
    this.#calls.push(call)
    const output = await make()
    call.returned = { at: this.#now(), output }
    return output
  }
}

import assert from 'node:assert/strict'
import { Random } from '../../../src/runtime/index.ts'
import type { GroupCell, GroupCounter, GroupLog, GroupMap, GroupRcu } from '../../../src/structures/index.ts'
import {
  checkLinearizable,
  type EntryInput,
  entryModel,
  entryStep,
  type HistoryCall,
  type LogInput,
  logModel,
  type SequentialModel,
} from '../../../tools/linearizability/index.ts'

type Call = { input: EntryInput | LogInput; calledAt: number; returned: { at: number; output: number } | undefined }

const LOG = 'log'

/**
 * A key of a map whose entries go by themselves, because there are too many or their lives are over: it is as if
 * somebody deleted them. Who finds nothing was preceded by that; one that nobody missed need not have gone. What the
 * call of a rank that was stopped has done is what it did if it did anything.
 */
export const goingEntryModel: SequentialModel<number, EntryInput, number> = {
  initial: 0,
  nameOf: String,
  // A get may change the state, too: it shows that the entry has gone.
  kindOf: ({ type }) => (type === 'set' ? 'overwrite' : 'other'),
  step(state, input, output) {
    const stays = entryModel.step(state, input, output)
    const [after, gives] = entryStep(0, input)
    if (output === undefined) return input.type === 'setIfAbsent' ? { state: after } : stays
    return stays ?? (output.value === gives ? { state: after } : undefined)
  },
}

/**
 * What clients saw of a map, a counter, a log and a cell, by key. Times may be equal only where calls may have
 * overlapped.
 */
export class Histories {
  readonly #calls = new Map<string, Call[]>()
  readonly #now: () => number
  #value: number

  /** Those of several processes write values of their own, each from `firstValue` on. */
  constructor(now: () => number, firstValue = 0) {
    this.#now = now
    this.#value = firstValue
  }

  /** All calls, to be taken by another process. */
  get told(): readonly [string, readonly Call[]][] {
    return [...this.#calls]
  }

  take(told: readonly [string, readonly Call[]][]): void {
    for (const [key, calls] of told) this.#calls.set(key, [...(this.#calls.get(key) ?? []), ...calls])
  }

  /** Calls drawn from a seed, one after the other, on a few keys. */
  async makeCalls(map: GroupMap<number>, seed: number, calls: number, keys: number): Promise<void> {
    const random = new Random(seed)
    for (let call = 0; call < calls; call += 1) {
      const key = `k${random.below(keys)}`
      const kind = random.below(6)
      this.#value += 1
      const value = this.#value
      if (kind < 2) await this.#call(key, { type: 'get' }, async () => (await map.get(key)) ?? 0)
      else if (kind === 2) await this.#call(key, { type: 'set', value }, () => map.set(key, value).then(() => 1))
      else if (kind === 3)
        await this.#call(key, { type: 'setIfAbsent', value }, async () => Number(await map.setIfAbsent(key, value)))
      else if (kind === 4) await this.#call(key, { type: 'delete' }, async () => Number(await map.delete(key)))
      else await this.#compareAndSet(map, key, value)
    }
  }

  /** As calls on an entry that begins at 0: what is added is the counter's next value. */
  async count(counter: GroupCounter, calls: number): Promise<void> {
    for (let call = 0; call < calls; call += 1) {
      this.#value += 1
      const value = this.#value
      await this.#call('counter', { type: 'set', value }, () => counter.set(value).then(() => 1))
      await this.#call('counter', { type: 'get' }, () => counter.get())
    }
  }

  /** Calls drawn from a seed, one after the other, on a log that keeps everything. */
  async append(log: GroupLog<number>, seed: number, calls: number): Promise<void> {
    const random = new Random(seed)
    for (let call = 0; call < calls; call += 1) {
      const kind = random.below(4)
      this.#value += 1
      const value = this.#value
      const index = random.below(4 * calls)
      if (kind < 2) await this.#call(LOG, { type: 'append', value }, () => log.append(value))
      else if (kind === 2) await this.#call(LOG, { type: 'last' }, async () => (await log.tail(1)).at(-1)?.value ?? 0)
      else await this.#call(LOG, { type: 'at', index }, async () => (await log.read(index, 1))[0]?.value ?? 0)
    }
  }

  /** Calls on a cell, as on an entry that is never deleted. */
  async assign(rcu: GroupRcu, cell: GroupCell<number>, calls: number): Promise<void> {
    for (let call = 0; call < calls; call += 1) {
      this.#value += 1
      const value = this.#value
      await this.#call('cell', { type: 'set', value }, () => rcu.assign(cell, value).then(() => 1))
      using _section = rcu.readLock()
      await this.#call('cell', { type: 'get' }, async () => (await rcu.dereference(cell)) ?? 0)
    }
  }

  /** `goes`: entries may go by themselves at any time. @throws AssertionError where no order explains what was seen. */
  check(what: string, { goes = false }: { readonly goes?: boolean } = {}): void {
    for (const [key, calls] of this.#calls) {
      const { verdict } =
        key === LOG
          ? checkLinearizable(logModel, calls as readonly HistoryCall<LogInput, number>[])
          : checkLinearizable(goes ? goingEntryModel : entryModel, calls as readonly HistoryCall<EntryInput, number>[])
      assert.equal(verdict, 'linearizable', `${what}, ${key}: ${JSON.stringify(calls)}`)
    }
  }

  /** Whether an order explains what was seen of entries that do not go by themselves. */
  get isExplained(): boolean {
    return [...this.#calls.values()].every(
      (calls) =>
        checkLinearizable(entryModel, calls as readonly HistoryCall<EntryInput, number>[]).verdict === 'linearizable',
    )
  }

  get length(): number {
    return [...this.#calls.values()].reduce((sum, calls) => sum + calls.length, 0)
  }

  async #compareAndSet(map: GroupMap<number>, key: string, value: number): Promise<void> {
    let expected = 0
    await this.#call(key, { type: 'get' }, async () => (expected = (await map.get(key)) ?? 0))
    if (expected === 0) return
    const input: EntryInput = { type: 'compareAndSet', expected, value }
    await this.#call(key, input, async () => Number(await map.compareAndSet(key, expected, value)))
  }

  async #call(key: string, input: EntryInput | LogInput, make: () => Promise<number>): Promise<void> {
    const call: Call = { input, calledAt: this.#now(), returned: undefined }
    const calls = this.#calls.get(key) ?? []
    this.#calls.set(key, calls)
    calls.push(call)
    const output = await make()
    call.returned = { at: this.#now(), output }
  }
}

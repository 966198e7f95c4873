import {
  type CheckOptions,
  checkLinearizable,
  type LinearizabilityResult,
  type LinearizabilityVerdict,
} from './check.ts'
import type { HistoryCall, SequentialModel } from './history.ts'

export interface PartitionsResult<Key> {
  /** `not linearizable` if one part is not; otherwise `unknown` if one part is. */
  readonly verdict: LinearizabilityVerdict
  /** Orders are of indexes in the whole history. */
  readonly parts: ReadonlyMap<Key, LinearizabilityResult>
}

/**
 * {@link checkLinearizable} for each part of a history, such as the calls to one key of a map. A history of independent
 * objects is linearizable if, and only if, its part for each object is (Herlihy and Wing, 1990). `model` is of one part.
 */
export function checkPartitions<State, Input, Output, Key>(
  model: SequentialModel<State, Input, Output>,
  history: readonly HistoryCall<Input, Output>[],
  keyOf: (input: Input) => Key,
  options: CheckOptions = {},
): PartitionsResult<Key> {
  const indexes = new Map<Key, number[]>()
  for (const [index, { input }] of history.entries()) {
    const key = keyOf(input)
    const part = indexes.get(key)
    if (part === undefined) indexes.set(key, [index])
    else part.push(index)
  }
  const parts = new Map<Key, LinearizabilityResult>()
  for (const [key, part] of indexes) {
    const calls = part.map((index) => history[index]!)
    const result = checkLinearizable(model, calls, options)
    parts.set(key, { ...result, order: result.order.map((call) => part[call]!) })
  }
  const verdicts = new Set([...parts.values()].map(({ verdict }) => verdict))
  const verdict = (['not linearizable', 'unknown'] as const).find((worst) => verdicts.has(worst)) ?? 'linearizable'
  return { verdict, parts }
}

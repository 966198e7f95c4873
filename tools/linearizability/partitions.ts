import { type CheckOptions, checkLinearizable, type LinearizabilityResult } from './check.ts'
import type { HistoryCall, SequentialModel } from './history.ts'

/**
 * {@link checkLinearizable} for each part of a history, such as the calls to one key of a map. `model` is of one part;
 * orders are of indexes in the whole history.
 *
 * A history of independent objects is linearizable if, and only if, its part for each object is (Herlihy and Wing,
 * 1990).
 */
export function checkPartitions<State, Input, Output, Call extends HistoryCall<Input, Output>, Key>(
  model: SequentialModel<State, Input, Output>,
  history: readonly Call[],
  keyOf: (call: Call) => Key,
  options: CheckOptions = {},
): ReadonlyMap<Key, LinearizabilityResult> {
  const parts = new Map<Key, number[]>()
  for (const [index, call] of history.entries()) {
    const key = keyOf(call)
    const part = parts.get(key)
    if (part === undefined) parts.set(key, [index])
    else part.push(index)
  }
  const results = new Map<Key, LinearizabilityResult>()
  for (const [key, part] of parts) {
    const calls = part.map((index) => history[index]!)
    const result = checkLinearizable(model, calls, options)
    results.set(key, { ...result, order: result.order.map((call) => part[call]!) })
  }
  return results
}

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { checkPartitions, type EntryInput, entryModel, type HistoryCall } from '../../tools/linearizability/index.ts'

type KeyedCall = HistoryCall<EntryInput, number> & { readonly key: number }

/** What clients have written down. A call without a return may have taken effect, or not. */
function historyOf(path: string): KeyedCall[] {
  const calls = new Map<string, KeyedCall>()
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    // A process may be killed in the middle of a line.
    if (!line.endsWith('}')) continue
    const { name, call, key, input, at, output } = JSON.parse(line) as Record<string, number> & { input: EntryInput }
    const id = `${name}/${call}`
    if (input !== undefined) calls.set(id, { key: key!, input, calledAt: at!, returned: undefined })
    else calls.set(id, { ...calls.get(id)!, returned: { at: at!, output: output! } })
  }
  return [...calls.values()]
}

/** All calls of a file have one order. Returns how many they are. */
export function assertLinearizable(path: string): number {
  const history = historyOf(path)
  for (const [key, { verdict }] of checkPartitions(entryModel, history, (call) => call.key))
    assert.equal(verdict, 'linearizable', `key ${key}, ${path}`)
  return history.length
}

import { readFileSync } from 'node:fs'
import { bytesOfKey } from '../../../src/index-service/keys/index-key.ts'
import { shardOf } from '../../../src/index-service/keys/shard-of.ts'
import {
  checkPartitions,
  type HistoryCall,
  type RegistersInput,
  type RegisterValues,
  registersModel,
} from '../../../tools/linearizability/index.ts'
import type { RecordedCall } from './call-record.ts'

/** What a client of the load does, as it writes it down: fields of a hash, keys of a slot, or tuples in order. */
export type LoadInput =
  | { readonly of: 'hash' | 'slot'; readonly key: string; readonly input: RegistersInput }
  /** Places in order: one is written, 0 for a deletion, or some are read. */
  | { readonly of: 'order'; readonly place: number; readonly value: number }
  | {
      readonly of: 'order'
      readonly from: number
      /** Not included. */
      readonly to: number
      readonly limit: number
      readonly reverse: boolean
    }

/** Of a range: what was found, in its order. */
export type FoundPlaces = readonly (readonly [place: number, value: number])[]

type LoadCall = HistoryCall<RegistersInput, readonly number[]> & { readonly part: string }

interface Recorded {
  readonly input: LoadInput
  readonly calledAt: number
  /** Undefined if it never came; null: the call had no effect. */
  returned: { readonly at: number; readonly output: readonly number[] | FoundPlaces } | null | undefined
}

/** The key of a place in order. */
export const keyOfPlace = (place: number): readonly [string, number] => ['order', place]

/** What clients have written down, as histories of hashes, of slots, and of each shard's part of an order. */
export function loadCallsOf(path: string, shards: number): readonly LoadCall[] {
  const all = recordedIn(path)
  const shardOfPlace = (place: number): number => shardOf(bytesOfKey(keyOfPlace(place)), shards)
  const places = new Map<number, number>()
  for (const { input } of all)
    if (input.of === 'order' && 'place' in input) places.set(input.place, shardOfPlace(input.place))
  return all.flatMap((recorded): LoadCall[] => {
    const { input, calledAt, returned } = recorded
    if (returned === null) return []
    if (input.of !== 'order')
      return [
        { part: `${input.of} ${input.key}`, input: input.input, calledAt, returned: returned as LoadCall['returned'] },
      ]
    if ('place' in input) {
      const values: RegisterValues = { [input.place]: input.value }
      const part = `order ${places.get(input.place)}`
      return [{ part, input: { type: 'write', values }, calledAt, returned: returned as LoadCall['returned'] }]
    }
    if (returned === undefined) return []
    const found = new Map(returned.output as FoundPlaces)
    const seen = seenOf(input, returned.output as FoundPlaces)
    return Array.from({ length: shards }, (_, shard): LoadCall => {
      const registers = [...places].filter(([place, of]) => of === shard && seen(place)).map(([place]) => place)
      const output = registers.map((place) => found.get(place) ?? 0)
      const read: RegistersInput = { type: 'read', registers: registers.map(String) }
      return { part: `order ${shard}`, input: read, calledAt, returned: { at: returned.at, output } }
    })
  })
}

/** Histories of all hashes, slots and orders that are not linearizable. */
export function unlinearizableParts(calls: readonly LoadCall[]): readonly string[] {
  const results = checkPartitions(registersModel, calls, ({ part }) => part)
  return [...results]
    .filter(([, { verdict }]) => verdict !== 'linearizable')
    .map(([part, { verdict }]) => `${part}: ${verdict}`)
}

/** Which places a range has seen: it ends where the limit was reached. */
function seenOf(
  { from, to, limit, reverse }: Extract<LoadInput, { from: number }>,
  found: FoundPlaces,
): (place: number) => boolean {
  const last = found.length < limit ? undefined : found.at(-1)![0]
  const low = reverse ? (last ?? from) : from
  const high = reverse || last === undefined ? to - 1 : last
  return (place) => place >= low && place <= high
}

function recordedIn(path: string): readonly Recorded[] {
  const calls = new Map<string, Recorded>()
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    // A process may be killed in the middle of a line.
    if (!line.endsWith('}')) continue
    const { name, call, at, input, output } = JSON.parse(line) as RecordedCall
    const id = `${name}/${call}`
    if (input !== undefined) calls.set(id, { input: input as LoadInput, calledAt: at, returned: undefined })
    else calls.get(id)!.returned = output === null ? null : { at, output: output as readonly number[] }
  }
  return [...calls.values()]
}

import { ArgumentError, checkOptions, checkWhole, mustBe, type OptionNames } from '../../native/index.ts'
import { keyOfBytes } from '../keys/index-key.ts'
import type { TuplePart } from '../keys/tuple-part.ts'
import type { PrefixSize } from '../state/prefix-sizes.ts'
import { latin1Of } from '../values/latin1.ts'
import { bufferOf, callNames, type IndexCaller, type IndexCallOptions, limitsOf } from './caller.ts'

/** What a key is shown as. */
type ShownKey = Buffer | readonly TuplePart[]

/** A call that took long. */
interface SlowCall {
  /** Rank of the node that noted it. */
  readonly node: number
  /** When it was answered: milliseconds since 1970. */
  readonly atMs: number
  readonly tookMs: number
  /** The name of the command and its arguments. Long ones are cut. */
  readonly command: readonly Buffer[]
  /** Where it came from: an address of a client of Redis, a client of a node by its number, or the node itself. */
  readonly client: string
}

interface UsedKey {
  readonly db: number
  readonly key: ShownKey
  readonly uses: number
}

interface Size {
  readonly keys: number
  readonly bytes: number
}

interface SizedPrefix extends Size {
  readonly db: number
  readonly prefix: ShownKey
}

export interface HotKeysOptions extends IndexCallOptions {
  readonly forMs?: number
  readonly count?: number
}

export interface SizesOptions extends IndexCallOptions {
  readonly separator?: string
  readonly depth?: number
  readonly count?: number
}

export interface SlowLogOptions extends IndexCallOptions {
  readonly reset?: boolean
}

const slowNames: OptionNames<SlowLogOptions> = { ...callNames, reset: true }
const hotNames: OptionNames<HotKeysOptions> = { ...callNames, forMs: true, count: true }
const sizesNames: OptionNames<SizesOptions> = { ...callNames, separator: true, depth: true, count: true }

const HOT_MS = 1000
const HOT_MS_MAX = 600_000
const HOT_COUNT = 10
const SIZES_COUNT = 100
const COUNT_MAX = 10_000
/** A key may be the fifth of one node and the eleventh of another one. */
const MORE_HOT = 4
/** Prefixes that are kept while all keys are gone through. Above twice as many, the smallest are added to the rest. */
const PREFIXES_MAX = 50_000

export async function slowCalls({ port }: IndexCaller, options: SlowLogOptions): Promise<readonly SlowCall[]> {
  checkOptions('slowLog', options, slowNames)
  const { reset = false, ...limits } = options
  if (typeof reset !== 'boolean') throw mustBe('options.reset', 'true or false', reset)
  const nodes = await port.slowCalls({ reset }, limitsOf(limits))
  return nodes
    .flatMap(({ rank, calls }) =>
      calls.map(({ timeMs, usec, args, address, clientName }): SlowCall => {
        const client = clientName === '' ? address : `${address} ${clientName}`
        return { node: rank, atMs: timeMs, tookMs: usec / 1000, command: args.map((each) => bufferOf(each)!), client }
      }),
    )
    .sort((one, other) => other.atMs - one.atMs)
}

export async function hotKeys({ port }: IndexCaller, options: HotKeysOptions): Promise<readonly UsedKey[]> {
  checkOptions('hotKeys', options, hotNames)
  const { forMs = HOT_MS, count = HOT_COUNT, ...limits } = options
  const ofCall = limitsOf(limits)
  checkWhole('options.forMs', forMs, 1, HOT_MS_MAX)
  if (forMs >= ofCall.timeoutMs) {
    const rule = `options.forMs must be below timeoutMs, which is ${ofCall.timeoutMs}`
    throw new ArgumentError('options.forMs', `${rule}; pass a larger timeoutMs`)
  }
  checkWhole('options.count', count, 1, COUNT_MAX)
  const nodes = await port.hotKeys({ forMs, count: count * MORE_HOT }, ofCall)
  const sums = new Map<string, { db: number; key: Uint8Array; uses: number }>()
  for (const { db, key, uses } of nodes.flatMap(({ keys }) => keys)) {
    const name = `${db} ${latin1Of(key)}`
    sums.set(name, { db, key, uses: uses + (sums.get(name)?.uses ?? 0) })
  }
  return [...sums.values()]
    .sort((one, other) => other.uses - one.uses)
    .slice(0, count)
    .map(({ db, key, uses }) => ({ db, key: keyOfBytes(key), uses }))
}

export async function sizesByPrefix(
  caller: IndexCaller,
  options: SizesOptions,
): Promise<{ readonly prefixes: readonly SizedPrefix[]; readonly rest: Size }> {
  checkOptions('sizesByPrefix', options, sizesNames)
  const { separator = ':', depth = 1, count = SIZES_COUNT, ...limits } = options
  if (typeof separator !== 'string' || separator === '')
    throw mustBe('options.separator', "text between parts of keys, such as ':'", separator)
  checkWhole('options.depth', depth, 1, 100)
  checkWhole('options.count', count, 1, COUNT_MAX)
  const sums = new PrefixSums()
  const parts = { separator: Buffer.from(separator), depth }
  const limitsOfCalls = limitsOf(limits)
  for (const shard of caller.allShards) {
    let cursor = 0
    do {
      const part = await shard.sizes({ ...parts, cursor }, limitsOfCalls)
      cursor = part.cursor
      for (const size of part.sizes) sums.add(size)
    } while (cursor !== 0)
  }
  return sums.largest(count)
}

/** What keys take, by database and prefix. */
class PrefixSums {
  #sums = new Map<string, PrefixSize>()
  #rest: Size = { keys: 0, bytes: 0 }

  add({ db, prefix, keys, bytes }: PrefixSize): void {
    const name = `${db} ${latin1Of(prefix)}`
    const sum = this.#sums.get(name) ?? { keys: 0, bytes: 0 }
    this.#sums.set(name, { db, prefix, ...sumOf(sum, { keys, bytes }) })
    if (this.#sums.size > 2 * PREFIXES_MAX) this.#keep(PREFIXES_MAX)
  }

  largest(count: number): { readonly prefixes: readonly SizedPrefix[]; readonly rest: Size } {
    this.#keep(count)
    const prefixes = [...this.#sums.values()].map(({ db, prefix, keys, bytes }) => {
      return { db, prefix: keyOfBytes(prefix), keys, bytes: Math.round(bytes) }
    })
    return { prefixes, rest: { ...this.#rest, bytes: Math.round(this.#rest.bytes) } }
  }

  #keep(count: number): void {
    const sorted = [...this.#sums].sort(([, one], [, other]) => other.bytes - one.bytes)
    for (const [, size] of sorted.slice(count)) this.#rest = sumOf(this.#rest, size)
    this.#sums = new Map(sorted.slice(0, count))
  }
}

function sumOf(one: Size, other: Size): Size {
  return { keys: one.keys + other.keys, bytes: one.bytes + other.bytes }
}

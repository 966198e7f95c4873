import type { Reply } from '../commands/reply.ts'
import type { ShardPort } from '../port.ts'
import type { IndexCaller, IndexCallOptions } from './caller.ts'

/**
 * A page ends with these bytes of keys and values, so that it takes a node no longer if values are long. The last value
 * may be of any length.
 */
const PAGE_BYTES = 2 ** 20

/** A tuple's key and value, as bytes. */
type Entry = readonly [key: Uint8Array, value: Uint8Array]

export interface RangePagesOptions {
  readonly caller: IndexCaller
  readonly shard: ShardPort
  /** The first key, and the first that is not included. */
  readonly low: Uint8Array
  readonly high: Uint8Array
  readonly reverse: boolean
  /** Keys that are fetched at a time. */
  readonly page: number
  readonly limits: IndexCallOptions
}

/** The tuples of a shard in order, fetched a page at a time. */
export class RangePages {
  readonly #options: RangePagesOptions
  #low: Uint8Array
  #high: Uint8Array
  #page: readonly Reply[] = []
  #at = 0
  #isLast = false

  constructor(options: RangePagesOptions) {
    this.#options = options
    this.#low = options.low
    this.#high = options.high
  }

  /** The next one, which stays until {@link take}; undefined at the end. */
  async peek(): Promise<Entry | undefined> {
    if (this.#at === this.#page.length) {
      if (this.#isLast) return undefined
      await this.#fetch()
      if (this.#page.length === 0) return undefined
    }
    return [this.#page[this.#at] as Uint8Array, this.#page[this.#at + 1] as Uint8Array]
  }

  take(): void {
    this.#at += 2
  }

  async #fetch(): Promise<void> {
    const { caller, shard, reverse, page, limits } = this.#options
    const words = [...(reverse ? ['REV'] : []), 'LIMIT', String(page), 'BYTES', String(PAGE_BYTES)].map((word) =>
      Buffer.from(word),
    )
    const call = { name: 'RANGE', args: [this.#low, this.#high, ...words] }
    this.#page = (await caller.oneIn(shard, call, limits)) as readonly Reply[]
    this.#at = 0
    const bytes = this.#page.reduce<number>((sum, part) => sum + (part as Uint8Array).length, 0)
    this.#isLast = this.#page.length < 2 * page && bytes < PAGE_BYTES
    const last = this.#page.at(-2) as Uint8Array | undefined
    if (last === undefined) return
    if (reverse) this.#high = last
    else this.#low = Buffer.concat([last, Uint8Array.of(0)])
  }
}

/** The entries of all, in one order. */
export async function* merged(all: readonly RangePages[], reverse: boolean): AsyncGenerator<Entry, void, undefined> {
  const heads = await Promise.all(all.map((pages) => pages.peek()))
  for (;;) {
    let best = -1
    for (const [place, head] of heads.entries()) {
      if (head === undefined) continue
      const than = best < 0 ? undefined : heads[best]
      if (than === undefined || Buffer.compare(head[0], than[0]) < 0 !== reverse) best = place
    }
    if (best < 0) return
    yield heads[best]!
    all[best]!.take()
    heads[best] = await all[best]!.peek()
  }
}

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

  /** Whether {@link head} is known. */
  get isReady(): boolean {
    return this.#at < this.#page.length || this.#isLast
  }

  /** Fetch the next page if that takes it to know the {@link head}. */
  async fill(): Promise<void> {
    if (!this.isReady) await this.#fetch()
  }

  /** The key of the next one; undefined at the end. */
  get head(): Uint8Array | undefined {
    return this.#page[this.#at] as Uint8Array | undefined
  }

  /** The next one, which is there. */
  take(): Entry {
    const at = this.#at
    this.#at += 2
    return [this.#page[at] as Uint8Array, this.#page[at + 1] as Uint8Array]
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

/** The entries of several shards, in one order. */
export class MergedPages {
  readonly #all: readonly RangePages[]
  readonly #isReverse: boolean

  constructor(all: readonly RangePages[], isReverse: boolean) {
    this.#all = all
    this.#isReverse = isReverse
  }

  /** Whether {@link take} need not wait for {@link fill}. */
  get isReady(): boolean {
    return this.#all.every((pages) => pages.isReady)
  }

  async fill(): Promise<void> {
    await Promise.all(this.#all.map((pages) => pages.fill()))
  }

  /** The next entry of all; undefined at the end. */
  take(): Entry | undefined {
    let best: RangePages | undefined
    for (const pages of this.#all) {
      const { head } = pages
      if (head === undefined) continue
      const than = best?.head
      if (than === undefined || Buffer.compare(head, than) < 0 !== this.#isReverse) best = pages
    }
    return best?.take()
  }
}

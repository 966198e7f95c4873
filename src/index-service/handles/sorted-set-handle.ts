import { mustBe } from '../../native/index.ts'
import type { Reply } from '../commands/reply.ts'
import { bufferOf, bytesOfValue, type Caller, type IndexCallOptions, type IndexValue, numberOf } from './caller.ts'

/** A member of a sorted set, and its score. */
export interface Scored {
  readonly member: Buffer
  readonly score: number
}

/** Members in the order of their scores; of equal ones, in that of bytes. Made by `index.sortedSetAt(key)`. */
export class IndexSortedSet {
  readonly #caller: Caller
  readonly #key: Uint8Array

  /** @internal */
  constructor(caller: Caller, key: Uint8Array) {
    this.#caller = caller
    this.#key = key
  }

  /** Set the score of a member. True if it is new. */
  async add(member: IndexValue, score: number, options: IndexCallOptions = {}): Promise<boolean> {
    if (Number.isNaN(score)) throw mustBe('score', 'a number', score)
    return (await this.#call('ZADD', [scoreBytes(score), bytesOfValue(member, 'member')], options)) === 1
  }

  /** Add to the score of a member, 0 if it is new, and return the sum. */
  async increment(member: IndexValue, by: number = 1, options: IndexCallOptions = {}): Promise<number> {
    return numberOf(await this.#call('ZINCRBY', [scoreBytes(by), bytesOfValue(member, 'member')], options))
  }

  /** How many of the members were there. */
  async delete(...members: readonly IndexValue[]): Promise<number> {
    if (members.length === 0) return 0
    return numberOf(
      await this.#call(
        'ZREM',
        members.map((member) => bytesOfValue(member, 'member')),
      ),
    )
  }

  /** The score of a member; undefined if there is none. */
  async score(member: IndexValue, options: IndexCallOptions = {}): Promise<number | undefined> {
    const reply = await this.#call('ZSCORE', [bytesOfValue(member, 'member')], options)
    return reply === null ? undefined : numberOf(reply)
  }

  /** How many members come before it; with `reverse`, after it. Undefined if it is not a member. */
  async rank(
    member: IndexValue,
    { reverse = false, ...options }: IndexCallOptions & { readonly reverse?: boolean } = {},
  ): Promise<number | undefined> {
    const reply = await this.#call(reverse ? 'ZREVRANK' : 'ZRANK', [bytesOfValue(member, 'member')], options)
    return reply === null ? undefined : numberOf(reply)
  }

  /** Members from a rank up to another, which is included. Ranks from the end are negative: -1 is the last. */
  async range(
    from: number = 0,
    to: number = -1,
    { reverse = false, ...options }: IndexCallOptions & { readonly reverse?: boolean } = {},
  ): Promise<Scored[]> {
    const words = [from, to, ...(reverse ? ['REV'] : []), 'WITHSCORES']
    return scoredOf(
      await this.#call(
        'ZRANGE',
        words.map((word) => bytesOfValue(word)),
        options,
      ),
    )
  }

  /** Members whose scores are from one number up to another, which is included. */
  async rangeByScore(from: number, to: number, options: IndexCallOptions = {}): Promise<Scored[]> {
    const args = [scoreBytes(from), scoreBytes(to), Buffer.from('BYSCORE'), Buffer.from('WITHSCORES')]
    return scoredOf(await this.#call('ZRANGE', args, options))
  }

  async size(options: IndexCallOptions = {}): Promise<number> {
    return numberOf(await this.#call('ZCARD', [], options))
  }

  #call(name: string, args: readonly Uint8Array[], options?: IndexCallOptions): Promise<Reply> {
    return this.#caller.one({ name, args: [this.#key, ...args] }, options)
  }
}

function scoreBytes(score: number): Uint8Array {
  return Buffer.from(score === Infinity ? 'inf' : score === -Infinity ? '-inf' : String(score))
}

/** Of members and scores in turn. */
function scoredOf(reply: Reply): Scored[] {
  const pairs = (reply as { readonly pairs: readonly Reply[] }).pairs
  const all: Scored[] = []
  for (let at = 0; at < pairs.length; at += 2)
    all.push({ member: bufferOf(pairs[at]!)!, score: numberOf(pairs[at + 1]!) })
  return all
}

import { checkBoolean, checkOptions, checkWhole, mustBe, type OptionNames } from '../../native/index.ts'
import type { Reply } from '../commands/reply.ts'
import {
  bufferOf,
  bytesOfValue,
  callNames,
  type IndexCallOptions,
  type IndexValue,
  type KeyCaller,
  numberOf,
} from './caller.ts'

/** A member of a sorted set, and its score. */
export interface Scored {
  readonly member: Buffer
  readonly score: number
}

/** Options of calls about ranks. */
export interface IndexRankOptions extends IndexCallOptions {
  /** Count from the highest score on. */
  readonly reverse?: boolean
}

const rankNames: OptionNames<IndexRankOptions> = { ...callNames, reverse: true }

/** Members in the order of their scores; of equal ones, in that of bytes. Made by `index.sortedSetAt(key)`. */
export class IndexSortedSet {
  readonly #at: KeyCaller

  /** @internal */
  constructor(at: KeyCaller) {
    this.#at = at
  }

  /** Set the score of a member. True if it is new. */
  async add(member: IndexValue, score: number, options: IndexCallOptions = {}): Promise<boolean> {
    return (await this.#at.call('add', 'ZADD', [scoreBytes(score), bytesOfValue(member, 'member')], options)) === 1
  }

  /** Add to the score of a member, 0 if it is new, and return the sum. */
  async increment(member: IndexValue, by: number = 1, options: IndexCallOptions = {}): Promise<number> {
    return numberOf(
      await this.#at.call('increment', 'ZINCRBY', [scoreBytes(by, 'by'), bytesOfValue(member, 'member')], options),
    )
  }

  /** How many of the members were there. */
  async delete(...members: readonly IndexValue[]): Promise<number> {
    if (members.length === 0) return 0
    return numberOf(
      await this.#at.call(
        'delete',
        'ZREM',
        members.map((member) => bytesOfValue(member, 'member')),
        undefined,
      ),
    )
  }

  /** The score of a member; undefined if there is none. */
  async score(member: IndexValue, options: IndexCallOptions = {}): Promise<number | undefined> {
    const reply = await this.#at.call('score', 'ZSCORE', [bytesOfValue(member, 'member')], options)
    return reply === null ? undefined : numberOf(reply)
  }

  /** How many members come before it; with `reverse`, after it. Undefined if it is not a member. */
  async rank(member: IndexValue, options: IndexRankOptions = {}): Promise<number | undefined> {
    checkOptions('rank', options, rankNames)
    const { reverse = false, ...limits } = options
    checkBoolean('options.reverse', reverse)
    const reply = await this.#at.call('rank', reverse ? 'ZREVRANK' : 'ZRANK', [bytesOfValue(member, 'member')], limits)
    return reply === null ? undefined : numberOf(reply)
  }

  /** Members from a rank up to another, which is included. Ranks from the end are negative: -1 is the last. */
  async range(from: number = 0, to: number = -1, options: IndexRankOptions = {}): Promise<Scored[]> {
    checkOptions('range', options, rankNames)
    const { reverse = false, ...limits } = options
    checkBoolean('options.reverse', reverse)
    for (const [name, place] of Object.entries({ from, to }))
      checkWhole(name, place, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
    const words = [from, to, ...(reverse ? ['REV'] : []), 'WITHSCORES'].map((word) => bytesOfValue(word))
    return scoredOf(await this.#at.call('range', 'ZRANGE', words, limits))
  }

  /** Members whose scores are from one number up to another, which is included. */
  async rangeByScore(from: number, to: number, options: IndexCallOptions = {}): Promise<Scored[]> {
    const args = [scoreBytes(from, 'from'), scoreBytes(to, 'to'), Buffer.from('BYSCORE'), Buffer.from('WITHSCORES')]
    return scoredOf(await this.#at.call('rangeByScore', 'ZRANGE', args, options))
  }

  async size(options: IndexCallOptions = {}): Promise<number> {
    return numberOf(await this.#at.call('size', 'ZCARD', [], options))
  }
}

function scoreBytes(score: number, name: string = 'score'): Uint8Array {
  if (typeof score !== 'number' || Number.isNaN(score)) throw mustBe(name, 'a number', score)
  return Buffer.from(score === Infinity ? 'inf' : score === -Infinity ? '-inf' : String(score))
}

/** Of members and scores in turn. None are an empty list. */
function scoredOf(reply: Reply): Scored[] {
  const pairs = typeof reply === 'object' && reply !== null && 'pairs' in reply ? reply.pairs : []
  const all: Scored[] = []
  for (let at = 0; at < pairs.length; at += 2)
    all.push({ member: bufferOf(pairs[at]!)!, score: numberOf(pairs[at + 1]!) })
  return all
}

import { RecordType } from '../state/record-format.ts'
import type { SnapshotReader, SnapshotWriter } from '../state/snapshot-stream.ts'
import { KeptSlots } from './kept-slots.ts'
import { MemberSet } from './member-set.ts'
import { OrderedMap } from './ordered-map.ts'

/** A member with its score. */
export interface Scored {
  readonly score: number
  readonly member: string
}

/** What a member takes besides what it takes in a set: a score, an object, its place in a leaf. */
const SCORED_BYTES = 94
const ORDER_BYTES = 800

/** A sorted set: members by score, and those of one score by their bytes. */
export class SortedSetValue {
  readonly type: typeof RecordType.SortedSet = RecordType.SortedSet
  readonly #members = new MemberSet()
  /** By the number of the member. */
  readonly #scores: number[] = []
  readonly #order = new OrderedMap<Scored, true>(compareScored)
  /** Scores that are being written as they were. */
  #kept: KeptSlots<number> | undefined

  get size(): number {
    return this.#scores.length
  }

  get usedBytes(): number {
    return ORDER_BYTES + this.#members.usedBytes + this.#scores.length * SCORED_BYTES
  }

  /** In an order that changes when a member is removed. */
  get members(): readonly string[] {
    return this.#members.members
  }

  scoreOf(member: string): number | undefined {
    const number = this.#members.numberOf(member)
    return number === undefined ? undefined : this.#scores[number]
  }

  /** How many are before a member that is there. */
  rankOf(member: string): number {
    return this.#order.rankOf({ score: this.scoreOf(member)!, member })
  }

  /** How many are below a score, or not above it. */
  countBelow(score: number, isInclusive: boolean): number {
    return this.#countUntil((scored) => scored.score < score || (isInclusive && scored.score === score))
  }

  /** How many members are below another, or not above it, if all have one score. */
  countBefore(member: string, isInclusive: boolean): number {
    return this.#countUntil((scored) => scored.member < member || (isInclusive && scored.member === member))
  }

  /** A zero has no sign: Redis keeps short sets so. */
  set(member: string, given: number): void {
    const score = given + 0
    const number = this.#members.numberOf(member)
    if (number === undefined) {
      this.#members.add(member)
      this.#scores.push(score)
    } else {
      this.#order.delete({ score: this.#scores[number]!, member })
      this.#kept?.changing(number)
      this.#scores[number] = score
    }
    this.#order.set({ score, member }, true)
  }

  delete(member: string): boolean {
    const number = this.#members.numberOf(member)
    if (number === undefined) return false
    this.#order.delete({ score: this.#scores[number]!, member })
    this.#members.delete(member)
    this.#kept?.changing(number)
    this.#kept?.changing(this.#scores.length - 1)
    const last = this.#scores.pop()!
    if (number < this.#scores.length) this.#scores[number] = last
    return true
  }

  /** Members of ranks from `from` up to before `to`, or the same backwards. */
  range(from: number, to: number, isReverse: boolean): Scored[] {
    const scored: Scored[] = []
    const start = this.#order.at(isReverse ? to - 1 : from)
    const cursor = this.#order.cursor({ from: start?.[0], reverse: isReverse })
    for (let left = to - from; left > 0 && cursor.next(); left -= 1) scored.push(cursor.key)
    return scored
  }

  scan(cursor: number, count: number): { readonly cursor: number; readonly members: readonly string[] } {
    return this.#members.scan(cursor, count)
  }

  encode(writer: SnapshotWriter): void {
    writer.count(this.size)
    for (const [number, member] of this.#members.members.entries()) {
      writer.text(member)
      writer.f64(this.#scores[number]!)
    }
  }

  *encodeParts(writer: SnapshotWriter): Generator<undefined> {
    const members = this.#members.keep()
    const scores = new KeptSlots(this.#scores)
    this.#kept = scores
    try {
      yield
      writer.count(members.left)
      for (; members.left > 0; yield) {
        writer.text(members.take())
        writer.f64(scores.take())
      }
    } finally {
      this.#members.release()
      this.#kept = undefined
    }
  }

  static decode(reader: SnapshotReader): SortedSetValue {
    const sortedSet = new SortedSetValue()
    for (let left = reader.count(); left > 0; left -= 1) {
      const [member, score] = [reader.text(), reader.f64()]
      if (Number.isNaN(score)) throw new RangeError('a score of a sorted set in a snapshot is not a number')
      sortedSet.set(member, score)
    }
    return sortedSet
  }

  /** How many are at the start of which this is true. */
  #countUntil(isBefore: (scored: Scored) => boolean): number {
    let [low, high] = [0, this.size]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBefore(this.#order.at(middle)![0])) low = middle + 1
      else high = middle
    }
    return low
  }
}

function compareScored(one: Scored, other: Scored): number {
  if (one.score !== other.score) return one.score < other.score ? -1 : 1
  return one.member < other.member ? -1 : one.member === other.member ? 0 : 1
}

import { blockOver } from '../blocks/block.ts'
import { keysOf } from '../local/ordering.ts'
import { float64 } from '../types/dtype.ts'
import type { Steps } from './steps.ts'
import type { Team } from './team.ts'

const DIGITS = 256
/** Digits of a key of 64 bits. */
const ROUNDS = 8

/** The bytes that come to a rank at most, for as many places. */
export function selectionBytes(team: Team, places: number): number {
  return ROUNDS * places * (DIGITS + 1) * 8 * team.size
}

/** Keys of this rank that begin with the same digits, and the places that are among those of all ranks. */
interface Range {
  readonly upper: Uint32Array
  readonly lower: Uint32Array
  /** How many keys of all ranks come before. */
  readonly before: number
  readonly places: readonly number[]
  readonly prefix: bigint
}

/**
 * The numbers that would be at these places, in rising order, if those of all ranks were sorted. Empty if one is a NaN.
 * Each round finds one more digit of their keys: every rank tells how many of its own have which.
 */
export function* selectTogether(team: Team, numbers: Float64Array, places: readonly number[]): Steps<number[]> {
  const [lower, upper] = keysOf(blockOver(numbers, float64, [numbers.length])).words as [Uint32Array, Uint32Array]
  let ranges: Range[] = [{ upper, lower, before: 0, places, prefix: 0n }]
  for (let round = 0; round < ROUNDS; round += 1) {
    const width = ranges.length * DIGITS + 1
    const own = new Float64Array(width)
    for (const [at, range] of ranges.entries()) countDigits(range, round, own.subarray(at * DIGITS))
    if (round === 0) own[width - 1] = numbers.some((value) => Number.isNaN(value)) ? 1 : 0
    const all = yield* team.collect(
      own,
      team.ranks.map(() => width),
    )
    const sums = new Float64Array(width)
    for (let at = 0; at < all.length; at += 1) sums[at % width]! += all[at]!
    if (sums[width - 1]! > 0) return []
    ranges = ranges.flatMap((range, at) => dividedRange(range, round, sums.subarray(at * DIGITS, (at + 1) * DIGITS)))
  }
  return ranges.flatMap((range) => range.places.map(() => numberOf(range.prefix)))
}

function digitOf({ upper, lower }: Range, at: number, round: number): number {
  return ((round < 4 ? upper : lower)[at]! >>> (24 - 8 * (round % 4))) & 0xff
}

function countDigits(range: Range, round: number, to: Float64Array): void {
  for (let at = 0; at < range.upper.length; at += 1) to[digitOf(range, at, round)]! += 1
}

/** A range for each digit of a place. */
function dividedRange(range: Range, round: number, counts: Float64Array): Range[] {
  const found: Range[] = []
  let { before } = range
  for (const [digit, count] of counts.entries()) {
    const places = range.places.filter((place) => place >= before && place < before + count)
    if (places.length > 0) {
      const kept = range.upper.map((_, at) => at).filter((at) => digitOf(range, at, round) === digit)
      const of = (words: Uint32Array): Uint32Array => kept.map((at) => words[at]!)
      const prefix = range.prefix * 256n + BigInt(digit)
      found.push({ upper: of(range.upper), lower: of(range.lower), before, places, prefix })
    }
    before += count
  }
  return found
}

/** The number of a key: the sign was turned over, or all bits of a negative one. */
function numberOf(key: bigint): number {
  const sign = 1n << 63n
  const bits = key >= sign ? key - sign : 2n * sign - 1n - key
  return new Float64Array(BigUint64Array.of(bits).buffer)[0]!
}

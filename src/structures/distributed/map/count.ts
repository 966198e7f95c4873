/**
 * How many entries a part of a map with a bound has, in one word of 64 bits which is only ever added to:
 *
 * ```
 *  63 … 32 changes so far: entries that were put for a new key, taken out, evicted   31 … 0 entries, signed
 * ```
 *
 * An entry and the count of it are two words, changed one right after the other by one batch. So for an instant the
 * count is behind; and of a rank that was stopped in between it stays so, until a census finds it (recount.ts). The
 * changes are the clock by which entries age: a moment is some of them, the 64th part of the bound.
 */
import { MOMENTS } from './ages.ts'

const CHANGE = 1n << 32n
/** Moments in which as many changes are made as there may be entries. */
const MOMENTS_A_BOUND = 64

/** What to add to the count word if there are `entries` more entries, or fewer. */
export function countChange(entries: number): bigint {
  return BigInt.asUintN(64, CHANGE * BigInt(Math.abs(entries)) + BigInt(entries))
}

/** What to add so that a count that is off is right: no change of the map. */
export function countCorrection(entries: number): bigint {
  return BigInt.asUintN(64, BigInt(entries))
}

export function entriesOf(word: bigint): number {
  return Number(BigInt.asIntN(32, word))
}

/** How many changes there were from one word to another; a multiple of 2^32 fewer where there were more. */
function changesBetween(from: bigint, to: bigint): number {
  return Number(BigInt.asUintN(32, (to >> 32n) - (from >> 32n)))
}

/**
 * By how much the count is too low at least (or, if negative, too high). The count was `before` first and `after` last;
 * in between, `entries` such entries were counted one by one. Each change meanwhile may have been seen or not.
 */
export function miscount(before: bigint, entries: number, after: bigint): number {
  const off = entries - entriesOf(before)
  return Math.sign(off) * Math.max(0, Math.abs(off) - changesBetween(before, after))
}

/**
 * The moment of a word, for a map of at most `max` entries. A power of two of changes, so that it goes on evenly when
 * they start again.
 */
export function momentOf(word: bigint, max: number): number {
  const changes = 2 ** Math.max(0, Math.ceil(Math.log2(max / MOMENTS_A_BOUND)))
  return Math.floor(Number(BigInt.asUintN(32, word >> 32n)) / changes) % MOMENTS
}

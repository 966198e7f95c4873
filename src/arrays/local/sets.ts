import { type Block, blockOver, sizeOf } from '../blocks/block.ts'
import { contiguous } from '../blocks/copying.ts'
import { bool } from '../types/dtype.ts'
import { promote } from '../types/promotion.ts'
import { castTo } from './casting.ts'
import { flattened, takeRows } from './lines.ts'
import { compareKeys, type Keys, keysOf, orderRows } from './ordering.ts'
import { placesOf } from './searching.ts'
import { ascendingOrder, indexBlock } from './sorting.ts'

/** For each element of the first block, is one of the second equal to it? NaN is equal to nothing. */
export function isin(x1: Block, x2: Block, { invert = false }: { readonly invert?: boolean } = {}): Block {
  const common = promote(x1.dtype, x2.dtype)
  const within = keysOf(flattened(contiguous(castTo(x2, common))))
  const wanted = keysOf(contiguous(castTo(x1, common)))
  const found = (within.words.length === 1 ? foundInTable(within, wanted) : undefined) ?? foundInOrder(within, wanted)
  if (invert) for (let index = 0; index < found.length; index += 1) found[index] = 1 - found[index]!
  return blockOver(found, bool, x1.shape)
}

/** By a table of what is there, if keys are small or lie close together. */
function foundInTable({ words: [keys] }: Keys, { words: [wanted], count, unordered }: Keys): Uint8Array | undefined {
  let least = 0xffffffff
  let greatest = 0
  for (let index = 0; index < keys!.length; index += 1) {
    least = Math.min(least, keys![index]!)
    greatest = Math.max(greatest, keys![index]!)
  }
  const size = greatest - least + 1
  if (unordered !== Number.POSITIVE_INFINITY || size > 6 * (count + keys!.length) + 65_536) return undefined
  const table = new Uint8Array(Math.max(0, size))
  for (let index = 0; index < keys!.length; index += 1) table[keys![index]! - least] = 1
  const found = new Uint8Array(count)
  for (let index = 0; index < count; index += 1) {
    const key = wanted![index]!
    if (key >= least && key <= greatest) found[index] = table[key - least]!
  }
  return found
}

function foundInOrder(keys: Keys, wanted: Keys): Uint8Array {
  const order = orderRows(keys, keys.count)
  const words = keys.words.map((word) => wordsAt(word, order))
  const within = { ...keys, words }
  const places = placesOf(within, wanted, 'left')
  const top = wanted.words.at(-1)!
  const found = new Uint8Array(wanted.count)
  for (let index = 0; index < wanted.count; index += 1) {
    const place = places[index]!
    const isThere =
      place < within.count &&
      top[index]! < wanted.unordered &&
      compareKeys(within.words, place, wanted.words, index) === 0
    found[index] = isThere ? 1 : 0
  }
  return found
}

/** In a loop: `from` with a function takes 30 times as long. */
function wordsAt(word: Uint32Array, positions: Uint32Array): Uint32Array {
  const words = new Uint32Array(positions.length)
  for (let index = 0; index < words.length; index += 1) words[index] = word[positions[index]!]!
  return words
}

export interface UniqueCounts {
  readonly values: Block
  readonly counts: Block
}

export interface UniqueInverse {
  readonly values: Block
  readonly inverseIndices: Block
}

export interface UniqueAll extends UniqueCounts, UniqueInverse {
  readonly indices: Block
}

/** Elements that differ in ascending order. Each NaN is one of its own, -0 and 0 are one: the first of them. */
export function uniqueValues(x: Block): Block {
  const { firsts, flat } = groupsOf(x)
  return takeRows(flat, sizeOf(x.shape), firsts, [firsts.length])
}

/** As `uniqueValues`, and how often each is there. */
export function uniqueCounts(x: Block): UniqueCounts {
  const { values, counts } = uniqueAll(x)
  return { values, counts }
}

/** As `uniqueValues`, and where in it each element is. */
export function uniqueInverse(x: Block): UniqueInverse {
  const { values, inverseIndices } = uniqueAll(x)
  return { values, inverseIndices }
}

/** As `uniqueValues`, with where each is first in the flattened block, where in it each element is, and how often. */
export function uniqueAll(x: Block): UniqueAll {
  const { flat, order, starts, firsts } = groupsOf(x)
  const size = order.length
  const inverse = new Uint32Array(size)
  const counts = new Uint32Array(firsts.length)
  for (let group = 0; group < firsts.length; group += 1) {
    const end = starts[group + 1] ?? size
    counts[group] = end - starts[group]!
    for (let index = starts[group]!; index < end; index += 1) inverse[order[index]!] = group
  }
  return {
    values: takeRows(flat, size, firsts, [firsts.length]),
    indices: indexBlock(firsts, [firsts.length]),
    inverseIndices: indexBlock(inverse, x.shape),
    counts: indexBlock(counts, [firsts.length]),
  }
}

interface Groups {
  readonly flat: Block
  /** Positions in the flattened block, those of equal elements next to each other and ascending. */
  readonly order: Uint32Array
  /** Where in `order` each group of equal elements starts, and the position that is there. */
  readonly starts: Uint32Array
  readonly firsts: Uint32Array
}

function groupsOf(x: Block): Groups {
  const flat = flattened(contiguous(x))
  const keys = keysOf(flat)
  const order = ascendingOrder(flat, keys)
  const starts = new Uint32Array(keys.count)
  const firsts = new Uint32Array(keys.count)
  let groups = 0
  for (let index = 0; index < order.length; index += 1) {
    if (index > 0 && isSame(keys, order[index - 1]!, order[index]!)) continue
    starts[groups] = index
    firsts[groups] = order[index]!
    groups += 1
  }
  return { flat, order, starts: starts.subarray(0, groups), firsts: firsts.subarray(0, groups) }
}

function isSame({ words, unordered }: Keys, first: number, second: number): boolean {
  return compareKeys(words, first, words, second) === 0 && words.at(-1)![first]! < unordered
}

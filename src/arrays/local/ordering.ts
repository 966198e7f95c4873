import { type Block, sizeOf } from '../blocks/block.ts'
import { type DType, float32, float64, int64, isComplex, realOf, uint64 } from '../types/dtype.ts'

/**
 * Elements as unsigned words that compare as the elements do, so that one loop orders every data type. The key of -0 is
 * that of 0. Every NaN has the same key and comes last. Complex numbers compare by real, then by imaginary part. Those
 * with a NaN come after all others, in NumPy's order: in the imaginary part, in the real part, in both.
 */
export interface Keys {
  readonly count: number
  /** The words of all keys, the least significant first. */
  readonly words: readonly Uint32Array[]
  /** A key with a most significant word of at least this is not equal to any other, not even to itself. */
  readonly unordered: number
}

/** The keys of a contiguous block. */
export function keysOf(block: Block): Keys {
  const { dtype } = block
  const count = sizeOf(block.shape)
  if (isComplex(dtype)) return complexKeys(block, count)
  const bytes = dtype.bytes * count
  const start = block.data.byteOffset + block.offset * dtype.bytes
  const unordered = dtype === float64 ? 0xfff80000 : dtype === float32 ? 0xffc00000 : Number.POSITIVE_INFINITY
  if (dtype.bytes === 8) {
    const halves = new Uint32Array(block.data.buffer, start, bytes / 4)
    return { count, words: splitWords(halves, dtype, count, 1), unordered }
  }
  if (dtype === float32) {
    const bits = new Uint32Array(block.data.buffer, start, count)
    return { count, words: [floatWords(bits, count, 1)], unordered }
  }
  // The sign bit is turned over, and words are no wider than the type, so that sorting skips what is 0 in all.
  const word = new Uint32Array(block.data.subarray(block.offset, block.offset + count) as Uint32Array)
  const mask = 2 ** (dtype.bytes * 8) - 1
  if (dtype.kind === 'signed integer') {
    const sign = 2 ** (dtype.bytes * 8 - 1)
    for (let index = 0; index < count; index += 1) word[index] = (word[index]! ^ sign) & mask
  }
  return { count, words: [word], unordered }
}

function complexKeys(block: Block, count: number): Keys {
  const start = block.data.byteOffset + block.offset * block.dtype.bytes
  const bits = new Uint32Array(block.data.buffer, start, (count * block.dtype.bytes) / 4)
  const real = realOf(block.dtype)
  const parts = [1, 0].map((part) =>
    real === float64
      ? splitWords(bits.subarray(part * 2), float64, count, 2)
      : [floatWords(bits.subarray(part), count, 2)],
  ) as [Uint32Array[], Uint32Array[]]
  const isNaN_ = real === float64 ? 0xfff80000 : 0xffc00000
  const [imaginary, reals] = parts.map((words) => words.at(-1)!) as [Uint32Array, Uint32Array]
  const places = new Uint32Array(count)
  for (let index = 0; index < count; index += 1) {
    places[index] = (reals[index] === isNaN_ ? 2 : 0) + (imaginary[index] === isNaN_ ? 1 : 0)
  }
  return { count, words: [...parts[0], ...parts[1], places], unordered: 1 }
}

/** Words of float32 from their bits, each `step` words after the one before. */
function floatWords(bits: Uint32Array, count: number, step: number): Uint32Array {
  const words = new Uint32Array(count)
  for (let index = 0, at = 0; index < count; index += 1, at += step) {
    const value = bits[at]!
    const magnitude = value & 0x7fffffff
    if (magnitude > 0x7f800000) words[index] = 0xffc00000
    else if (magnitude === 0) words[index] = 0x80000000
    else words[index] = value ^ ((value >> 31) | 0x80000000)
  }
  return words
}

/** The lower and the upper words of 64-bit elements from their halves, the lower half first in memory. */
function splitWords(halves: Uint32Array, dtype: DType, count: number, step: number): [Uint32Array, Uint32Array] {
  const lower = new Uint32Array(count)
  const upper = new Uint32Array(count)
  if (dtype === int64 || dtype === uint64) {
    const sign = dtype === int64 ? 0x80000000 : 0
    for (let index = 0; index < count; index += 1) {
      lower[index] = halves[2 * index]!
      upper[index] = halves[2 * index + 1]! ^ sign
    }
    return [lower, upper]
  }
  for (let index = 0, at = 0; index < count; index += 1, at += 2 * step) {
    const low = halves[at]!
    const high = halves[at + 1]!
    const magnitude = high & 0x7fffffff
    if (magnitude > 0x7ff00000 || (magnitude === 0x7ff00000 && low !== 0)) upper[index] = 0xfff80000
    else if (magnitude === 0 && low === 0) upper[index] = 0x80000000
    else {
      const negative = high >> 31
      lower[index] = low ^ negative
      upper[index] = high ^ (negative | 0x80000000)
    }
  }
  return [lower, upper]
}

/** Turns the order of keys over: what is equal stays equal. */
export function reverseKeys(keys: Keys): Keys {
  for (const word of keys.words) for (let index = 0; index < word.length; index += 1) word[index] = ~word[index]!
  return keys
}

/** Up to here, inserting is faster than counting digits. */
const INSERTION_MAX = 48

/**
 * The order of keys, separately in each row of `length` neighbours: positions within the row, those of equal keys in
 * ascending order. Least significant digit radix sort (Knuth, The Art of Computer Programming 3, 5.2.5) on bytes.
 */
export function orderRows(keys: Keys, length: number): Uint32Array {
  const { count, words } = keys
  const order = new Uint32Array(count)
  if (length <= INSERTION_MAX) {
    for (let start = 0; start < count; start += length) insertRow(words, order, start, length)
    return order
  }
  const scratch = { keys: new Uint32Array(length), moved: [new Uint32Array(length), new Uint32Array(length)] as const }
  for (let start = 0; start < count; start += length) {
    const row = order.subarray(start, start + length)
    for (let index = 0; index < length; index += 1) row[index] = index
    let isOrdered = true
    for (const word of words) {
      const source = word.subarray(start, start + length)
      for (let index = 0; index < length; index += 1) scratch.keys[index] = source[isOrdered ? index : row[index]!]!
      if (radixSort(scratch.keys, row, ...scratch.moved)) isOrdered = false
    }
  }
  return order
}

function insertRow(words: readonly Uint32Array[], order: Uint32Array, start: number, length: number): void {
  const top = words.at(-1)!
  const low = words.length === 2 ? words[0]! : undefined
  for (let index = 0; index < length; index += 1) {
    let at = start + index
    const element = start + index
    const key = top[element]!
    for (; at > start; at -= 1) {
      const before = start + order[at - 1]!
      const other = top[before]!
      if (other < key) break
      if (other === key) {
        if (words.length === 1) break
        if (low !== undefined ? low[before]! <= low[element]! : compareKeys(words, before, words, element) <= 0) break
      }
      order[at] = order[at - 1]!
    }
    order[at] = index
  }
}

const digits = new Uint32Array(4 * 256)

/**
 * Sorts keys and carries `order` along, and keeps the order of equal keys. A byte that is the same in all keys costs
 * nothing. Says whether anything was moved.
 */
function radixSort(keys: Uint32Array, order: Uint32Array, otherKeys: Uint32Array, otherOrder: Uint32Array): boolean {
  const length = keys.length
  digits.fill(0)
  let isSorted = true
  for (let index = 0, before = 0; index < length; index += 1) {
    const key = keys[index]!
    if (key < before) isSorted = false
    before = key
    digits[key & 255]! += 1
    digits[256 + ((key >>> 8) & 255)]! += 1
    digits[512 + ((key >>> 16) & 255)]! += 1
    digits[768 + (key >>> 24)]! += 1
  }
  if (isSorted) return false
  let [fromKeys, fromOrder, toKeys, toOrder] = [keys, order, otherKeys, otherOrder]
  for (let digit = 0; digit < 4; digit += 1) {
    const places = digits.subarray(digit * 256, digit * 256 + 256)
    const shift = digit * 8
    if (places[(keys[0]! >>> shift) & 255] === length) continue
    let next = 0
    for (let value = 0; value < 256; value += 1) {
      const first = next
      next += places[value]!
      places[value] = first
    }
    scatter(fromKeys, fromOrder, toKeys, toOrder, places, shift)
    ;[fromKeys, fromOrder, toKeys, toOrder] = [toKeys, toOrder, fromKeys, fromOrder]
  }
  if (fromOrder !== order) order.set(fromOrder)
  return true
}

function scatter(
  fromKeys: Uint32Array,
  fromOrder: Uint32Array,
  toKeys: Uint32Array,
  toOrder: Uint32Array,
  places: Uint32Array,
  shift: number,
): void {
  for (let index = 0; index < fromKeys.length; index += 1) {
    const key = fromKeys[index]!
    const value = (key >>> shift) & 255
    const place = places[value]!
    places[value] = place + 1
    toKeys[place] = key
    toOrder[place] = fromOrder[index]!
  }
}

/** Less than 0, 0 or more than 0, as the key at `left` is before, equal to or after the other. */
export function compareKeys(
  leftWords: readonly Uint32Array[],
  left: number,
  rightWords: readonly Uint32Array[],
  right: number,
): number {
  for (let word = leftWords.length - 1; word >= 0; word -= 1) {
    const difference = leftWords[word]![left]! - rightWords[word]![right]!
    if (difference !== 0) return difference
  }
  return 0
}

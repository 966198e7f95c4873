import { philoxNatively } from '../../kernels/native.ts'

/**
 * Philox 4x64-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). A block of
 * four 64-bit words is a function of its number and the key, so that any part of the stream can be computed by itself.
 *
 * A 64-bit word is two 32-bit words here, the lower first: in a Uint32Array in memory, as a BigUint64Array has it.
 */
const ROUNDS = 10
const MULTIPLIER_0_HIGH = 0xd2e7470e
const MULTIPLIER_0_LOW = 0xe14c6c93
const MULTIPLIER_1_HIGH = 0xca5a8263
const MULTIPLIER_1_LOW = 0x95121157
const WEYL_0_HIGH = 0x9e3779b9
const WEYL_0_LOW = 0x7f4a7c15
const WEYL_1_HIGH = 0xbb67ae85
const WEYL_1_LOW = 0x84caa73b

/** 64-bit words in a block. */
export const BLOCK_WORDS = 4

/**
 * Writes the blocks of `counter`, `counter + 1`, … to `words`, whose length is a multiple of 8. The key (4 words of 32
 * bits) and the counter (8) have their lowest word first.
 */
export function philoxBlocks(key: Uint32Array, counter: Uint32Array, words: Uint32Array): void {
  if (!philoxNatively(key, counter, words)) philoxTwin(key, counter, words)
}

/** The same without the addon. */
export function philoxTwin(key: Uint32Array, counter: Uint32Array, words: Uint32Array): void {
  const next = counter.slice()
  for (let at = 0; at < words.length; at += 2 * BLOCK_WORDS) {
    philoxBlock(key, next, words, at)
    addTo(next, 1)
  }
}

/** Adds an integer that is not negative to one of several words, the lowest first. What overflows is lost. */
export function addTo(words: Uint32Array, value: number): void {
  let carry = value
  for (let index = 0; index < words.length && carry > 0; index += 1) {
    const sum = words[index]! + (carry % 2 ** 32)
    words[index] = sum
    carry = Math.floor(carry / 2 ** 32) + (sum >= 2 ** 32 ? 1 : 0)
  }
}

function philoxBlock(key: Uint32Array, counter: Uint32Array, words: Uint32Array, at: number): void {
  let k0 = key[0]!
  let k0High = key[1]!
  let k1 = key[2]!
  let k1High = key[3]!
  let c0 = counter[0]!
  let c0High = counter[1]!
  let c1 = counter[2]!
  let c1High = counter[3]!
  let c2 = counter[4]!
  let c2High = counter[5]!
  let c3 = counter[6]!
  let c3High = counter[7]!
  for (let round = 0; round < ROUNDS; round += 1) {
    // Word 0 times the first multiplier: 128 bits, as sums whose lower 32 bits are a word and whose rest is carried on.
    const a0 = Math.imul(c0, MULTIPLIER_0_LOW)
    const a1 = upperHalf(c0, MULTIPLIER_0_LOW) + lowerHalf(c0, MULTIPLIER_0_HIGH) + lowerHalf(c0High, MULTIPLIER_0_LOW)
    const a2 =
      upperHalf(c0, MULTIPLIER_0_HIGH) +
      upperHalf(c0High, MULTIPLIER_0_LOW) +
      lowerHalf(c0High, MULTIPLIER_0_HIGH) +
      carryOf(a1)
    const a3 = upperHalf(c0High, MULTIPLIER_0_HIGH) + carryOf(a2)
    // The same of word 2 with the second.
    const b0 = Math.imul(c2, MULTIPLIER_1_LOW)
    const b1 = upperHalf(c2, MULTIPLIER_1_LOW) + lowerHalf(c2, MULTIPLIER_1_HIGH) + lowerHalf(c2High, MULTIPLIER_1_LOW)
    const b2 =
      upperHalf(c2, MULTIPLIER_1_HIGH) +
      upperHalf(c2High, MULTIPLIER_1_LOW) +
      lowerHalf(c2High, MULTIPLIER_1_HIGH) +
      carryOf(b1)
    const b3 = upperHalf(c2High, MULTIPLIER_1_HIGH) + carryOf(b2)
    c0 = (b2 ^ c1 ^ k0) >>> 0
    c0High = (b3 ^ c1High ^ k0High) >>> 0
    c1 = b0 >>> 0
    c1High = b1 >>> 0
    c2 = (a2 ^ c3 ^ k1) >>> 0
    c2High = (a3 ^ c3High ^ k1High) >>> 0
    c3 = a0 >>> 0
    c3High = a1 >>> 0
    k0 += WEYL_0_LOW
    k0High = (k0High + WEYL_0_HIGH + carryOf(k0)) >>> 0
    k0 >>>= 0
    k1 += WEYL_1_LOW
    k1High = (k1High + WEYL_1_HIGH + carryOf(k1)) >>> 0
    k1 >>>= 0
  }
  words[at] = c0
  words[at + 1] = c0High
  words[at + 2] = c1
  words[at + 3] = c1High
  words[at + 4] = c2
  words[at + 5] = c2High
  words[at + 6] = c3
  words[at + 7] = c3High
}

/** The lower 32 bits of the product of two 32-bit words. */
export function lowerHalf(a: number, b: number): number {
  return Math.imul(a, b) >>> 0
}

/**
 * The upper 32 bits. The float64 product is at most 2**10 beside the true one. Less the lower half it is a multiple of
 * 2**32 but for that, so rounding finds it.
 */
export function upperHalf(a: number, b: number): number {
  return Math.floor((a * b - (Math.imul(a, b) >>> 0)) * 2 ** -32 + 0.5)
}

/** What a sum of 32-bit words carries into the next. */
function carryOf(sum: number): number {
  return Math.floor(sum * 2 ** -32)
}

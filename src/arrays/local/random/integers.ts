import { bool, type DType, type Elements, isWide } from '../../types/dtype.ts'
import { lowerHalf, upperHalf } from './philox.ts'
import type { WordStream } from './word-stream.ts'

const WORD_32 = 2 ** 32 - 1
const WORD_64 = 2n ** 64n - 1n

/**
 * Fills `target` with integers from `low` to `low + span`, both included, each as likely as another. The type holds
 * both. The way is Lemire's, "Fast random integer generation in an interval" (ACM TOMACS 29, 2019). As in NumPy, 8 and
 * 16 bits are cut from 32-bit words, and 64-bit integers take 64 bits only where the span needs them.
 */
export function fillIntegers(stream: WordStream, target: Elements, type: DType, low: bigint, span: bigint): void {
  if (span === 0n) {
    target.fill((isWide(type) ? low : Number(low)) as never)
    return
  }
  if (span > BigInt(WORD_32)) fillWide(stream, target as BigInt64Array, low, span)
  else if (isWide(type)) fillHalves(target as BigInt64Array, low, draw32(stream, Number(span)))
  else {
    const draw =
      type === bool
        ? drawBit(stream)
        : type.bytes === 4
          ? draw32(stream, Number(span))
          : drawPart(stream, type.bytes, Number(span))
    const first = Number(low)
    for (let index = 0; index < target.length; index += 1) target[index] = first + draw()
  }
}

/** An integer from 0 to `span`, below 2**32. */
function draw32(stream: WordStream, span: number): () => number {
  if (span === WORD_32) return () => stream.next32()
  const count = span + 1
  const threshold = (WORD_32 - span) % count
  return () => {
    // The upper half of word * count is the integer; some lower halves are refused, so that all are equally likely.
    for (;;) {
      const word = stream.next32()
      const rest = lowerHalf(word, count)
      if (rest >= threshold) return upperHalf(word, count)
    }
  }
}

/** The same of words of 8 or 16 bits, several of which are cut from 32, the lowest first. */
function drawPart(stream: WordStream, bytes: number, span: number): () => number {
  const bits = 8 * bytes
  const mask = 2 ** bits - 1
  let buffer = 0
  let left = 0
  const part = (): number => {
    if (left === 0) {
      buffer = stream.next32()
      left = 32 / bits
    } else buffer >>>= bits
    left -= 1
    return buffer & mask
  }
  if (span === mask) return part
  const count = span + 1
  const threshold = (mask - span) % count
  return () => {
    for (;;) {
      const product = part() * count
      if ((product & mask) >= threshold) return product >>> bits
    }
  }
}

function drawBit(stream: WordStream): () => number {
  let buffer = 0
  let left = 0
  return () => {
    if (left === 0) {
      buffer = stream.next32()
      left = 32
    } else buffer >>>= 1
    left -= 1
    return buffer & 1
  }
}

/** 64-bit integers of 32 bits each: written as halves where doubles hold them, which a BigInt for each would not be. */
function fillHalves(target: BigInt64Array, low: bigint, draw: () => number): void {
  const first = Number(low)
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(first + WORD_32)) {
    for (let index = 0; index < target.length; index += 1) target[index] = low + BigInt(draw())
    return
  }
  const halves = new Int32Array(target.buffer, target.byteOffset, 2 * target.length)
  for (let at = 0; at < halves.length; at += 2) {
    const value = first + draw()
    halves[at] = value | 0
    halves[at + 1] = Math.floor(value / 2 ** 32)
  }
}

function fillWide(stream: WordStream, target: BigInt64Array, low: bigint, span: bigint): void {
  const count = span + 1n
  const threshold = (WORD_64 - span) % count
  for (let index = 0; index < target.length; index += 1) target[index] = low + draw64(stream, count, threshold)
}

function draw64(stream: WordStream, count: bigint, threshold: bigint): bigint {
  for (;;) {
    const at = stream.next()
    const word = (BigInt(stream.words[at + 1]!) << 32n) | BigInt(stream.words[at]!)
    if (count > WORD_64) return word
    const product = word * count
    if ((product & WORD_64) >= threshold) return product >> 64n
  }
}

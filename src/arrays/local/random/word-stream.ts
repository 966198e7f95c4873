import { ArrayError } from '../../errors.ts'
import { addTo, BLOCK_WORDS, philoxBlocks } from './philox.ts'
import { seedWords, wordsOf } from './seed-sequence.ts'

/** Blocks computed at a time: few for a first word, then twice as many each time. */
const BLOCKS_FIRST = 2
const BLOCKS_MAX = 512

/** Where a stream comes from: a seed of any size, or the key itself and the number of the block before the first. */
export interface StreamSource {
  readonly seed?: number | bigint | undefined
  /** 128 bits. */
  readonly key?: number | bigint | undefined
  /** 256 bits. */
  readonly counter?: number | bigint | undefined
}

/**
 * The words of NumPy's `Philox(seed)` or `Philox(key=…, counter=…)`, in its order. Distributions read `words` at the
 * place that `next()` returns, which costs less than handing words out.
 */
export class WordStream {
  /** 32-bit words: the lower half of a 64-bit word at an even place, the upper after it. */
  readonly words: Uint32Array
  readonly #key: Uint32Array
  readonly #counter: Uint32Array
  #at = 0
  #end = 0
  /** The number of the word at place 0 of `words`. */
  #first = 0
  #blocks = BLOCKS_FIRST
  /** The upper half of a word whose lower half was taken by `next32`, or -1. */
  #half = -1

  constructor({ seed, key, counter = 0 }: StreamSource) {
    if ((seed === undefined) === (key === undefined))
      throw new ArrayError('VALUE', 'a random stream needs either a seed or a key')
    this.#key = key === undefined ? seedWords(seed as number, 4) : wordsOf(key, 4, 'key')
    this.#counter = wordsOf(counter, 8, 'counter')
    this.words = new Uint32Array(2 * BLOCK_WORDS * BLOCKS_MAX)
  }

  /** How many 64-bit words were taken. */
  get position(): number {
    return this.#first + this.#at / 2
  }

  /** Goes on at another word. The half that `next32` keeps stays. */
  seek(position: number): void {
    const inside = 2 * (position - this.#first)
    if (inside >= 0 && inside <= this.#end) {
      this.#at = inside
      return
    }
    this.#first = position - (position % BLOCK_WORDS)
    this.#fill()
    this.#at = 2 * (position % BLOCK_WORDS)
  }

  /** Takes a 64-bit word: its lower half is at the returned place of `words`, its upper half after that. */
  next(): number {
    if (this.#at === this.#end) this.#refill()
    const at = this.#at
    this.#at = at + 2
    return at
  }

  /** Takes words that lie one after another in memory: from one to `most`. */
  run(most: number): Uint32Array {
    const at = this.next()
    this.#at = Math.min(this.#end, at + 2 * most)
    return this.words.subarray(at, this.#at)
  }

  /** Gives `take` words that lie one after another in memory, and goes on behind as many as it says that it took. */
  takeMany(take: (words: Uint32Array) => number): void {
    if (this.#at === this.#end) this.#refill()
    this.#at += 2 * take(this.words.subarray(this.#at, this.#end))
  }

  /** Takes 32 bits: both halves of a word one after the other, whatever `next` takes in between. */
  next32(): number {
    const half = this.#half
    if (half >= 0) {
      this.#half = -1
      return half
    }
    const at = this.next()
    this.#half = this.words[at + 1]!
    return this.words[at]!
  }

  /** A float64 in [0, 1), of the upper 53 bits of a word. */
  nextFloat64(): number {
    const at = this.next()
    return (this.words[at + 1]! * 2 ** 21 + (this.words[at]! >>> 11)) * 2 ** -53
  }

  /** A float32 in [0, 1), of the upper 24 of 32 bits. */
  nextFloat32(): number {
    return (this.next32() >>> 8) * 2 ** -24
  }

  #refill(): void {
    this.#first += this.#end / 2
    this.#fill()
  }

  #fill(): void {
    const counter = this.#counter.slice()
    addTo(counter, this.#first / BLOCK_WORDS + 1) // the counter is that of the block before the first
    this.#end = 2 * BLOCK_WORDS * this.#blocks
    philoxBlocks(this.#key, counter, this.words.subarray(0, this.#end))
    this.#at = 0
    this.#blocks = Math.min(BLOCKS_MAX, 2 * this.#blocks)
  }
}

import { CompareExchangeCommand, ReadCommand, WriteCommand } from './command.ts'
import type { HomeWords } from './home-words.ts'
import { CHUNK_BYTES, chunksIn, chunkWord, firstChunk } from './layout.ts'

/** What a chunk is used for: blocks of one class, or a part of a map's table. */
export type ChunkUse = { readonly kind: 'blocks'; readonly sizeClass: number } | { readonly kind: 'table' }

/**
 * The word of a chunk:
 *
 * ```
 *  55 … 32 the highest tag that its blocks have had   31 … 16 owner, rank + 1   15 … 0 use: class + 1, or 0xff for a table
 * ```
 *
 * Without an owner it is free. Only its owner puts blocks into a chunk, uses them anew, or gives it back; and the home in its stead, once the owner is out of the group.
 */
export interface Chunk {
  readonly index: number
  /** Undefined: free. */
  readonly owner: number | undefined
  readonly use: ChunkUse
  readonly tagFloor: number
  readonly word: bigint
}

const TABLE = 0xff
/** Words looked at in one go. */
const WORDS_READ = 512
/** Bytes that are cleared by one command. */
const CLEARED_BYTES = 16_384

export function chunkOffset(index: number): number {
  return index * CHUNK_BYTES
}

function encode(owner: number | undefined, use: ChunkUse, tagFloor: number): bigint {
  const code = use.kind === 'table' ? TABLE : use.sizeClass + 1
  const low = owner === undefined ? 0 : (((owner + 1) << 16) | code) >>> 0
  return (BigInt(tagFloor) << 32n) | BigInt(low)
}

function decode(index: number, word: bigint): Chunk {
  const low = Number(word & 0xffffffffn)
  const code = low & 0xffff
  const use: ChunkUse = code === TABLE ? { kind: 'table' } : { kind: 'blocks', sizeClass: code - 1 }
  return { index, owner: low === 0 ? undefined : (low >>> 16) - 1, use, tagFloor: Number(word >> 32n), word }
}

/** The chunks of a home. */
export class Chunks {
  readonly #home: HomeWords
  readonly #first: number
  readonly #count: number
  /** Where to look first: others begin elsewhere. */
  #next: number

  constructor(home: HomeWords) {
    const { rank, ranks, lengthBytes } = home.words
    this.#home = home
    this.#first = firstChunk(lengthBytes)
    this.#count = chunksIn(lengthBytes) - this.#first
    this.#next = Math.floor((this.#count * rank) / ranks)
  }

  /** Bytes of all of them. */
  get lengthBytes(): number {
    return this.#count * CHUNK_BYTES
  }

  /** All that are not free. Two round trips or a few. */
  async taken(): Promise<Chunk[]> {
    const found: Chunk[] = []
    for (let from = 0; from < this.#count; from += WORDS_READ)
      found.push(...(await this.#read(from)).filter(({ owner }) => owner !== undefined))
    return found
  }

  /** Take a free one; its bytes are as they were left, which is zero where its floor is 0. Undefined when there is none. */
  async take(use: ChunkUse): Promise<Chunk | undefined> {
    const { rank } = this.#home.words
    for (let looked = 0; looked < this.#count; ) {
      const from = this.#next % this.#count
      const some = await this.#read(from)
      const free = some.find(({ owner }) => owner === undefined)
      if (free === undefined) {
        looked += some.length
        this.#next = from + some.length
        continue
      }
      const taken = await this.#replace(free, encode(rank, use, free.tagFloor))
      this.#next = free.index - this.#first + 1
      if (taken !== undefined) return taken
    }
    return undefined
  }

  /** Make it this rank's own. Undefined where it is not as it was. */
  adopt(chunk: Chunk): Promise<Chunk | undefined> {
    return this.#replace(chunk, encode(this.#home.words.rank, chunk.use, chunk.tagFloor))
  }

  /** It is free again; no tag of its blocks was above `tagFloor`. */
  async giveBack(chunk: Chunk, tagFloor: number): Promise<void> {
    await this.#replace(chunk, encode(undefined, chunk.use, Math.max(1, tagFloor)))
  }

  /** Make all of its bytes zero, unless they are. */
  async clear({ index, tagFloor }: Chunk): Promise<void> {
    if (tagFloor === 0) return
    const zeros = new Uint8Array(CLEARED_BYTES)
    const parts = Array.from({ length: CHUNK_BYTES / CLEARED_BYTES }, (_, part) => part * CLEARED_BYTES)
    await this.#home.run(parts.map((at) => new WriteCommand(chunkOffset(index) + at, zeros)))
  }

  async #read(from: number): Promise<Chunk[]> {
    const count = Math.min(WORDS_READ, this.#count - from)
    const words = new ReadCommand(chunkWord(this.#first + from), count * 8)
    await this.#home.run([words])
    return Array.from({ length: count }, (_, at) => decode(this.#first + from + at, words.word(at * 8)))
  }

  async #replace(chunk: Chunk, by: bigint): Promise<Chunk | undefined> {
    const swap = new CompareExchangeCommand(chunkWord(chunk.index), chunk.word, by)
    await this.#home.run([swap])
    return swap.swapped ? decode(chunk.index, by) : undefined
  }
}

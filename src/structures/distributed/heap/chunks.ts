import { CompareExchangeCommand, ReadCommand, WriteCommand } from '../memory/command.ts'
import { CHUNK_BYTES, chunksIn, chunkWord, firstChunk } from '../memory/layout.ts'
import type { HomeMemory } from './home-memory.ts'

/** What a chunk is used for: blocks of one class, slots of a log, or a table of a map. */
export type ChunkUse =
  | { readonly kind: 'blocks'; readonly sizeClass: number }
  | { readonly kind: 'table' }
  | { readonly kind: 'map table' }

/**
 * The word of a chunk:
 *
 * ```
 *  55 … 32  the highest tag that its blocks have had; of a map's table: how often it was one
 *  31 … 16  owner, rank + 1
 *  15 … 0   use: class + 1, 0xff for slots, 0xfe for a map's table
 * ```
 *
 * Without an owner it is free. A chunk that was a map's table can only become such a table again. A late write to the
 * table must not meet anything else. Only its owner puts blocks into a chunk, uses them again, or gives it back. Once
 * the owner is out of the group, the home does so in its place.
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
const MAP_TABLE = 0xfe
/** Words looked at in one go. */
const WORDS_READ = 512
/** Bytes that are written by one command. */
const WRITTEN_BYTES = 16_384

export function chunkOffset(index: number): number {
  return index * CHUNK_BYTES
}

function encode(owner: number | undefined, use: ChunkUse, tagFloor: number): bigint {
  const kept = owner !== undefined || use.kind === 'map table'
  const low = kept ? ((((owner ?? -1) + 1) << 16) | codeOf(use)) >>> 0 : 0
  return (BigInt(tagFloor) << 32n) | BigInt(low)
}

function decode(index: number, word: bigint): Chunk {
  const low = Number(word & 0xffffffffn)
  const code = low & 0xffff
  return {
    index,
    owner: low >>> 16 === 0 ? undefined : (low >>> 16) - 1,
    use: useOf(code),
    tagFloor: Number(word >> 32n),
    word,
  }
}

function codeOf(use: ChunkUse): number {
  if (use.kind === 'blocks') return use.sizeClass + 1
  return use.kind === 'table' ? TABLE : MAP_TABLE
}

function useOf(code: number): ChunkUse {
  if (code === MAP_TABLE) return { kind: 'map table' }
  return code === TABLE ? { kind: 'table' } : { kind: 'blocks', sizeClass: code - 1 }
}

/** The chunks of a home. */
export class Chunks {
  readonly #memory: HomeMemory
  readonly #first: number
  readonly #count: number
  /** Where to look first: others begin elsewhere. */
  #next: number

  constructor(memory: HomeMemory) {
    const { rank, ranks, lengthBytes } = memory.group
    this.#memory = memory
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

  /**
   * Take a free one; its bytes are as they were left, which is zero where its floor is 0. Undefined when there is none.
   */
  async take(use: ChunkUse): Promise<Chunk | undefined> {
    return use.kind === 'map table' ? await this.#takeMapTable() : await this.#takeNew(use, (floor) => floor)
  }

  /** The chunk `index` as it is now. */
  async at(index: number): Promise<Chunk> {
    const [chunk] = await this.#read(index - this.#first, 1)
    return chunk!
  }

  /** Make it this rank's own. Undefined where it is not as it was. */
  adopt(chunk: Chunk): Promise<Chunk | undefined> {
    return this.#replace(chunk, encode(this.#memory.group.rank, chunk.use, chunk.tagFloor))
  }

  /** It is free again; no tag of its blocks was above `tagFloor`. False where it was not as it is in `chunk`. */
  async giveBack(chunk: Chunk, tagFloor: number): Promise<boolean> {
    return (await this.#replace(chunk, encode(undefined, chunk.use, Math.max(1, tagFloor)))) !== undefined
  }

  /** Make all of its bytes zero, unless they are. */
  async clear(chunk: Chunk): Promise<void> {
    if (chunk.tagFloor !== 0) await this.write(chunk, new Uint8Array(CHUNK_BYTES))
  }

  /** Fill one that this rank has taken. */
  async write({ index }: Chunk, bytes: Uint8Array): Promise<void> {
    const writes: WriteCommand[] = []
    for (let at = 0; at < bytes.length; at += WRITTEN_BYTES)
      writes.push(new WriteCommand(chunkOffset(index) + at, bytes.subarray(at, at + WRITTEN_BYTES)))
    await this.#memory.run(writes)
  }

  /** One that was one before, where there is one: nothing else can be made of it. */
  async #takeMapTable(): Promise<Chunk | undefined> {
    const { rank } = this.#memory.group
    for (let from = 0; from < this.#count; from += WORDS_READ) {
      const spare = (await this.#read(from)).filter(({ owner, use }) => owner === undefined && use.kind === 'map table')
      for (const chunk of spare) {
        const taken = await this.#replace(chunk, encode(rank, chunk.use, chunk.tagFloor + 1))
        if (taken !== undefined) return taken
      }
    }
    return await this.#takeNew({ kind: 'map table' }, (floor) => floor + 1)
  }

  /** One that was no table of a map yet. */
  async #takeNew(use: ChunkUse, floorOf: (floor: number) => number): Promise<Chunk | undefined> {
    const { rank } = this.#memory.group
    for (let looked = 0; looked < this.#count; ) {
      const from = this.#next % this.#count
      const some = await this.#read(from)
      const free = some.find((chunk) => chunk.owner === undefined && chunk.use.kind !== 'map table')
      if (free === undefined) {
        looked += some.length
        this.#next = from + some.length
        continue
      }
      const taken = await this.#replace(free, encode(rank, use, floorOf(free.tagFloor)))
      this.#next = free.index - this.#first + 1
      if (taken !== undefined) return taken
    }
    return undefined
  }

  async #read(from: number, most: number = WORDS_READ): Promise<Chunk[]> {
    const count = Math.min(most, this.#count - from)
    const words = new ReadCommand(chunkWord(this.#first + from), count * 8)
    await this.#memory.run([words])
    return Array.from({ length: count }, (_, at) => decode(this.#first + from + at, words.word(at * 8)))
  }

  async #replace(chunk: Chunk, by: bigint): Promise<Chunk | undefined> {
    const swap = new CompareExchangeCommand(chunkWord(chunk.index), chunk.word, by)
    await this.#memory.run([swap])
    return swap.swapped ? decode(chunk.index, by) : undefined
  }
}

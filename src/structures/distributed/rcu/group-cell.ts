import type { Codec } from '../../../codecs/index.ts'
import { encodeCopy } from '../../values/value-settings.ts'
import type { BlockPool, OwnBlock } from '../heap/block-pool.ts'
import { bytesOfClass, decodeBlock, encodeBlock } from '../heap/block-word.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { RECORD_BYTES, readRecord, writeRecord } from '../heap/record.ts'
import { CompareExchangeCommand, WriteCommand } from '../memory/command.ts'

/** Bytes of a cell's body: the word that names the block of its version, 0 before the first (heap/block-word.ts). */
export const CELL_BYTES = 8

/** A version of a cell's value. */
interface Version {
  readonly word: bigint
  /** From 1 on; 0: none. */
  readonly version: number
  readonly bytes: Uint8Array
}

const NONE: Version = { word: 0n, version: 0, bytes: new Uint8Array(0) }

/**
 * A value that the ranks of a group read often and replace seldom, as a whole. Used by `GroupRcu`; made by {@link
 * GroupStructures.cell}.
 *
 * One word names the block of the present version.
 * 1. To read is a READ of the word, and of the block unless this rank has read that block last.
 * 2. To replace is a compare-and-swap on the word, in the same batch as the new block. It takes effect in the
 *    compare-and-swap.
 * 3. A reader copies, and checks by the tag that its copy is what the word meant (heap/record.ts). So a block is used
 *    again as soon as no word names it, and no reader delays that.
 */
export class GroupCell<V> {
  readonly name: string
  /** @internal */
  readonly memory: HomeMemory
  readonly #pool: BlockPool
  readonly #place: number
  readonly #codec: Codec<V>
  readonly #valueBytesMax: number
  /** The version that was read last. */
  #seen: Version = NONE
  #decoded = 0
  #value: V | undefined

  /** @internal */
  constructor(
    name: string,
    { memory, pool, place }: { readonly memory: HomeMemory; readonly pool: BlockPool; readonly place: number },
    { codec, valueBytesMax }: { readonly codec: Codec<V>; readonly valueBytesMax: number },
  ) {
    this.name = name
    this.memory = memory
    this.#pool = pool
    this.#place = place
    this.#codec = codec
    this.#valueBytesMax = valueBytesMax
  }

  /** @internal The present version. One round trip if this rank has read it before, else two. */
  async load(): Promise<Version> {
    for (;;) {
      const version = await this.#versionOf(await this.memory.load64(this.#place))
      if (version !== undefined) return version
    }
  }

  /** @internal Decoded once for each version. */
  async read(): Promise<{ readonly version: number; readonly value: V | undefined }> {
    const { version, bytes } = await this.load()
    if (version === 0) return { version, value: undefined }
    if (version !== this.#decoded) {
      this.#value = this.#codec.decode(bytes)
      this.#decoded = version
    }
    return { version, value: this.#value }
  }

  /**
   * @internal Replace the present version, which must be `expected` if that is given. Resolves with the new number; 0
   *   if the version was another. @throws HeapFullError
   */
  async assign(value: V, signal: AbortSignal | undefined, expected?: number): Promise<number> {
    const bytes = this.#encode(value)
    const block = await this.#pool.take(RECORD_BYTES + bytes.length)
    let version = 0
    try {
      for (let there = this.#seen; version === 0; there = this.#seen) {
        signal?.throwIfAborted()
        if (expected !== undefined && there.version !== expected) break
        if (await this.#replace(there, block, bytes)) version = there.version + 1
        else await this.load()
      }
    } finally {
      if (version === 0) this.#pool.release(block)
      else this.#pool.linked(block)
    }
    return version
  }

  async #replace(there: Version, block: OwnBlock, bytes: Uint8Array): Promise<boolean> {
    const word = encodeBlock({ ...block, fingerprint: 0, tentative: false })
    const version = there.version + 1
    const write = new WriteCommand(block.offset, writeRecord(block.tag, { index: version, bytes: 0 }, bytes))
    const swap = new CompareExchangeCommand(this.#place, there.word, word)
    await this.memory.run([write, swap])
    if (!swap.swapped) return false
    this.#see({ word, version, bytes })
    const before = decodeBlock(there.word)
    if (before !== undefined) this.#pool.release(before)
    return true
  }

  /** Undefined if it was replaced meanwhile. */
  async #versionOf(word: bigint): Promise<Version | undefined> {
    if (word === this.#seen.word) return this.#seen
    const block = decodeBlock(word)
    if (block === undefined) return NONE
    const record = readRecord(block, (await this.memory.read(block.offset, bytesOfClass(block.sizeClass))).bytes)
    return record && this.#see({ word, version: record.index, bytes: record.value })
  }

  /** Versions rise; if two are read at a time the later one stays. */
  #see(version: Version): Version {
    if (version.version > this.#seen.version) this.#seen = version
    return version
  }

  #encode(value: V): Uint8Array {
    return encodeCopy({ codec: this.#codec, valueBytesMax: this.#valueBytesMax }, this.name, value)
  }
}

import { type JournalPage, PAGE_ENTRY_BYTES, PAGES_PER_BLOCK, type Protocol, pageIn } from '../dsm/index.ts'
import { PageClass } from './wire.ts'

/** What is kept of one page at one rank. */
const Bit = { Reads: 1, Writes: 2, Moves: 4, Home: 8, Known: 16 } as const

/** What a reader of a {@link PageMap} has been told. */
export class PageReader {
  /** For each block, the stamp of what was told of it. */
  readonly told: Uint32Array
  /** With which block it goes on. */
  next = 0
  /** Up to here nothing is missing. */
  stamp = 0

  constructor(map: PageMap) {
    this.told = new Uint32Array(Math.ceil(map.pages / PAGES_PER_BLOCK))
  }
}

/**
 * The states of all pages of one region, put together from what each rank shows: {@link PageClass} plus 16 times the
 * rank that has it, plus 1. Only blocks in which something changed are put together again, once for all ranks, and only
 * of ranks that know any of their pages.
 */
export class PageMap {
  readonly pages: number
  readonly #states: Uint16Array
  /** For each block, when it changed last. */
  readonly #stamps: Uint32Array
  /** For each block, what is known of its pages, by rank. */
  readonly #known: (Map<number, Uint8Array> | undefined)[]
  readonly #changed = new Set<number>()
  readonly #bits: readonly number[]
  #stamp = 0

  constructor(pages: number, protocol: Protocol) {
    const blocks = Math.ceil(pages / PAGES_PER_BLOCK)
    this.pages = pages
    this.#states = new Uint16Array(pages)
    this.#stamps = new Uint32Array(blocks)
    this.#known = new Array(blocks)
    this.#bits = Object.values(protocol.cache.states).map(({ right, transient }) => {
      const rights = right === 'write' ? Bit.Reads | Bit.Writes : right === 'read' ? Bit.Reads : 0
      return rights | (transient ? Bit.Moves : 0) | Bit.Known
    })
  }

  /** Of every page. */
  get states(): Uint16Array {
    this.#settle()
    return this.#states
  }

  /** Rises with every change. */
  get stamp(): number {
    this.#settle()
    return this.#stamp
  }

  /** What a rank shows of a block. */
  take(rank: number, block: number, entries: DataView): void {
    const ranks = this.#known[block] ?? new Map<number, Uint8Array>()
    this.#known[block] = ranks
    let bits = ranks.get(rank)
    if (bits === undefined) {
      bits = new Uint8Array(PAGES_PER_BLOCK)
      ranks.set(rank, bits)
    }
    const count = Math.min(entries.byteLength / PAGE_ENTRY_BYTES, this.pages - block * PAGES_PER_BLOCK)
    for (let index = 0; index < count; index += 1) bits[index] = this.#bitsOf(pageIn(entries, index * PAGE_ENTRY_BYTES))
    this.#changed.add(block)
  }

  /** The rank has gone: what it had is nobody's. */
  forget(rank: number): void {
    this.#known.forEach((ranks, block) => {
      if (ranks?.delete(rank) === true) this.#changed.add(block)
    })
  }

  /**
   * Blocks that have changed since a reader was told of them, at most `most`, going round from where it stopped: so
   * each comes in turn, also where all change all the time. They count as told then.
   */
  takeChanged(reader: PageReader, most: number): readonly number[] {
    this.#settle()
    const blocks: number[] = []
    const count = this.#stamps.length
    if (reader.stamp === this.#stamp) return blocks
    let looked = 0
    for (; looked < count && blocks.length < most; looked += 1) {
      const block = (reader.next + looked) % count
      if (this.#stamps[block] === reader.told[block]) continue
      reader.told[block] = this.#stamps[block]!
      blocks.push(block)
    }
    reader.next = (reader.next + looked) % count
    if (looked === count) reader.stamp = this.#stamp
    return blocks
  }

  /** The states of one block. */
  block(block: number): Uint16Array {
    this.#settle()
    return this.#states.subarray(block * PAGES_PER_BLOCK, Math.min(this.pages, (block + 1) * PAGES_PER_BLOCK))
  }

  #bitsOf({ copy, directory }: JournalPage): number {
    if (copy === undefined) return 0
    return (this.#bits[copy] ?? 0) | (directory === undefined ? 0 : Bit.Home)
  }

  #settle(): void {
    if (this.#changed.size === 0) return
    for (const block of this.#changed) {
      this.#merge(block)
      // Each block has a stamp of its own, so that a part of them can be told.
      this.#stamps[block] = ++this.#stamp
    }
    this.#changed.clear()
  }

  #merge(block: number): void {
    const first = block * PAGES_PER_BLOCK
    const count = Math.min(PAGES_PER_BLOCK, this.pages - first)
    const ranks = [...this.#known[block]!.keys()]
    const bits = [...this.#known[block]!.values()]
    for (let index = 0; index < count; index += 1) {
      let [readers, reader, writer, home, all] = [0, -1, -1, -1, 0]
      for (let at = 0; at < ranks.length; at += 1) {
        const here = bits[at]![index]!
        if (here === 0) continue
        all |= here
        if ((here & Bit.Home) !== 0) home = ranks[at]!
        if ((here & Bit.Writes) !== 0) writer = ranks[at]!
        if ((here & Bit.Reads) !== 0) {
          readers += 1
          reader = ranks[at]!
        }
      }
      const owner = writer >= 0 ? writer : readers === 1 ? reader : home >= 0 ? home : reader
      this.#states[first + index] = kindOf(all, writer, readers) + 16 * (owner + 1)
    }
  }
}

function kindOf(all: number, writer: number, readers: number): number {
  if ((all & Bit.Known) === 0) return PageClass.Untouched
  if ((all & Bit.Moves) !== 0) return PageClass.Moving
  if (writer >= 0) return PageClass.Written
  if (readers > 1) return PageClass.Shared
  return readers === 1 ? PageClass.OneReader : PageClass.Home
}

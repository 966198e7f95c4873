import { type JournalPage, PAGE_ENTRY_BYTES, PAGES_PER_BLOCK, type Protocol, pageIn } from '../dsm/index.ts'
import { PageClass } from './wire.ts'

/** What is kept of one page at one rank. */
const Bit = { Reads: 1, Writes: 2, Moves: 4, Home: 8, Known: 16 } as const

/** The states of all pages of one region, put together from what each rank shows: {@link PageClass} plus 16 times the rank that has it, plus 1. */
export class PageMap {
  readonly pages: number
  readonly states: Uint16Array
  /** For each block, when it changed last. */
  readonly #stamps: Uint32Array
  readonly #ranks = new Map<number, Uint8Array>()
  readonly #bits: readonly number[]
  #stamp = 0

  constructor(pages: number, protocol: Protocol) {
    this.pages = pages
    this.states = new Uint16Array(pages)
    this.#stamps = new Uint32Array(Math.ceil(pages / PAGES_PER_BLOCK))
    this.#bits = Object.values(protocol.cache.states).map(({ right, transient }) => {
      const rights = right === 'write' ? Bit.Reads | Bit.Writes : right === 'read' ? Bit.Reads : 0
      return rights | (transient ? Bit.Moves : 0) | Bit.Known
    })
  }

  /** Rises with every change. */
  get stamp(): number {
    return this.#stamp
  }

  /** What a rank shows of a block. */
  take(rank: number, block: number, entries: DataView): void {
    let bits = this.#ranks.get(rank)
    if (bits === undefined) {
      bits = new Uint8Array(this.pages)
      this.#ranks.set(rank, bits)
    }
    const first = block * PAGES_PER_BLOCK
    const count = Math.min(entries.byteLength / PAGE_ENTRY_BYTES, this.pages - first)
    for (let index = 0; index < count; index++)
      bits[first + index] = this.#bitsOf(pageIn(entries, index * PAGE_ENTRY_BYTES))
    this.#merge(block)
  }

  /** The rank has gone: what it had is nobody's. */
  forget(rank: number): void {
    if (!this.#ranks.delete(rank)) return
    for (let block = 0; block < this.#stamps.length; block++) this.#merge(block)
  }

  /** Blocks that changed after `stamp`, at most `most`, the longest unsent first; and the stamp up to which this tells all. */
  changedSince(stamp: number, most: number): { readonly blocks: readonly number[]; readonly stamp: number } {
    const blocks: number[] = []
    for (let block = 0; block < this.#stamps.length; block++) if (this.#stamps[block]! > stamp) blocks.push(block)
    if (blocks.length <= most) return { blocks, stamp: this.#stamp }
    blocks.sort((a, b) => this.#stamps[a]! - this.#stamps[b]!)
    const taken = blocks.slice(0, most)
    return { blocks: taken, stamp: this.#stamps[taken.at(-1)!]! }
  }

  /** The states of one block. */
  block(block: number): Uint16Array {
    return this.states.subarray(block * PAGES_PER_BLOCK, Math.min(this.pages, (block + 1) * PAGES_PER_BLOCK))
  }

  #bitsOf({ copy, directory }: JournalPage): number {
    if (copy === undefined) return 0
    return (this.#bits[copy] ?? 0) | (directory === undefined ? 0 : Bit.Home)
  }

  #merge(block: number): void {
    const first = block * PAGES_PER_BLOCK
    const end = Math.min(this.pages, first + PAGES_PER_BLOCK)
    for (let page = first; page < end; page++) this.states[page] = this.#classOf(page)
    // Each block has a stamp of its own, so that a part of them can be told.
    this.#stamps[block] = ++this.#stamp
  }

  #classOf(page: number): number {
    let [readers, reader, writer, home, all] = [0, -1, -1, -1, 0]
    for (const [rank, bits] of this.#ranks) {
      const here = bits[page]!
      all |= here
      if ((here & Bit.Home) !== 0) home = rank
      if ((here & Bit.Writes) !== 0) writer = rank
      if ((here & Bit.Reads) !== 0) {
        readers++
        reader = rank
      }
    }
    const owner = writer >= 0 ? writer : readers === 1 ? reader : home >= 0 ? home : reader
    return kindOf(all, writer, readers) + 16 * (owner + 1)
  }
}

function kindOf(all: number, writer: number, readers: number): number {
  if ((all & Bit.Known) === 0) return PageClass.Untouched
  if ((all & Bit.Moves) !== 0) return PageClass.Moving
  if (writer >= 0) return PageClass.Written
  if (readers > 1) return PageClass.Shared
  return readers === 1 ? PageClass.OneReader : PageClass.Home
}

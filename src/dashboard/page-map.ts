import { type JournalPage, PAGE_ENTRY_BYTES, PAGES_PER_BLOCK, type Protocol, pageIn } from '../dsm/index.ts'
import { PageClass } from './wire.ts'

/** What is known of one page at one rank. */
const Bit = { Reads: 1, Writes: 2, Moves: 4, Home: 8, Known: 16 } as const

/** How far a reader of a {@link PageMap} has read. */
export class PageReader {
  /** For each block, the stamp of the state that the reader has. */
  readonly told: Uint32Array
  /** The block with which it goes on. */
  next = 0
  /** The reader has every change up to this stamp. */
  stamp = 0

  constructor(map: PageMap) {
    this.told = new Uint32Array(Math.ceil(map.pages / PAGES_PER_BLOCK))
  }
}

/**
 * The states of all pages of one region, merged from what each rank shows. A state is `PageClass + 16 * (rank + 1)`,
 * where `rank` has the page. Only blocks with a change are merged again, once for all ranks, from the ranks that know
 * any of their pages.
 */
export class PageMap {
  readonly pages: number
  readonly #states: Uint16Array
  /** For each block, the stamp of its last change. */
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

  /** The states of all pages. */
  get states(): Uint16Array {
    this.#settle()
    return this.#states
  }

  /** Grows with every change. */
  get stamp(): number {
    this.#settle()
    return this.#stamp
  }

  /** Take what a rank shows of a block. */
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

  /** Forget a rank that has gone, with all its copies. */
  forget(rank: number): void {
    this.#known.forEach((ranks, block) => {
      if (ranks?.delete(rank) === true) this.#changed.add(block)
    })
  }

  /**
   * Up to `most` blocks that have changed since the reader got them, which it has then got. The search goes round from
   * where it stopped, so every block has its turn even if all blocks change all the time.
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
      // Each block has its own stamp, so that a reader can take some of the changed blocks.
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

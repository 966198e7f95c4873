import { type BlockName, blockOf, encodeBlock } from '../heap/block-word.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { ReadCommand } from '../memory/command.ts'
import { TABLE_SLOTS } from './body.ts'

/** What a slot says of one index. */
export type SlotView =
  /** Its entry is there. */
  | { readonly kind: 'there'; readonly word: bigint; readonly block: BlockName }
  /** Its entry was there, and was dropped. */
  | { readonly kind: 'gone' }
  /** There was none yet. If it is the index that comes next, its entry replaces `word`. */
  | { readonly kind: 'free'; readonly word: bigint }

const SLOT_BYTES = 8

/**
 * The slots of a log: one for each entry that it keeps, used in a circle. The entry of index `i` is in slot `i mod
 * capacity`, in round `i div capacity`.
 *
 * A slot with an entry is the name of its block (heap/block-word.ts), with the last 8 bits of the round in place of the
 * fingerprint. A slot whose entry was trimmed has 0 in its lower half, as if it named a block at 0. Its upper half has
 * the round whose entry comes next, so it is never the same twice either. A new table is all 0: round 0 comes next.
 */
export class LogSlots {
  readonly memory: HomeMemory
  readonly capacity: number
  readonly #tables: readonly number[]

  constructor(memory: HomeMemory, tables: readonly number[], capacity: number) {
    this.memory = memory
    this.#tables = tables
    this.capacity = capacity
  }

  /** Where the slot of an index is. */
  place(index: number): number {
    const slot = index % this.capacity
    return this.#tables[Math.floor(slot / TABLE_SLOTS)]! + (slot % TABLE_SLOTS) * SLOT_BYTES
  }

  /** READs of the slots of `count` indexes in a row, at most as many as there are slots; for a batch. */
  reads(from: number, count: number): readonly ReadCommand[] {
    const reads: ReadCommand[] = []
    for (let at = from; at < from + count; ) {
      const slot = at % this.capacity
      const here = Math.min(from + count - at, this.capacity - slot, TABLE_SLOTS - (slot % TABLE_SLOTS))
      reads.push(new ReadCommand(this.place(at), here * SLOT_BYTES))
      at += here
    }
    return reads
  }

  /** What the READs have found, in order. */
  views(from: number, reads: readonly ReadCommand[]): readonly SlotView[] {
    const words = reads.flatMap((read) =>
      Array.from({ length: read.length / SLOT_BYTES }, (_, at) => read.word(at * 8)),
    )
    return words.map((word, at) => this.view(from + at, word))
  }

  /** Right where the slot's round is less than 128 from that of the index: see view.ts for why it is. */
  view(index: number, word: bigint): SlotView {
    const round = Math.floor(index / this.capacity)
    const high = Number(word >> 32n)
    const low = Number(word & 0xffffffffn)
    if (low === 0) return ((high - round) | 0) <= 0 ? { kind: 'free', word } : { kind: 'gone' }
    const ahead = (((high >>> 24) - round) << 24) >> 24
    if (ahead === 0) return { kind: 'there', word, block: blockOf(high, low) }
    return ahead < 0 ? { kind: 'free', word } : { kind: 'gone' }
  }

  /** The word of a slot with the entry of `index`. */
  filled(index: number, block: Omit<BlockName, 'fingerprint' | 'tentative'>): bigint {
    const round = Math.floor(index / this.capacity)
    return encodeBlock({ ...block, fingerprint: round & 0xff, tentative: false })
  }

  /** The word of a slot from which the entry of `index` was trimmed. */
  trimmed(index: number): bigint {
    return BigInt((Math.floor(index / this.capacity) + 1) >>> 0) << 32n
  }
}

import { FREE_BLOCK, HeapFullError, StoreBlockOffset as Offset } from '../../../structures/index.ts'
import { CLASSES_PER_DOUBLING, HeaderOffset } from './layout.ts'
import type { UndoMemory } from './undo-memory.ts'

/**
 * A block: its header, then what it holds. Free blocks are linked by class.
 *
 * ```
 *   0  size in bytes, a multiple of 16; plus 1 if it is free   4  size of the block before   8  contents
 *                                                               8  next free   12  previous free
 * ```
 */
export const HEADER_BYTES = 8
export const BLOCK_BYTES_MIN = 32
const FREE = FREE_BLOCK
/** How many blocks of a class are looked at. */
const LOOKS_MIN = 2
const LOOKS_MAX = 1000
const CLASS_BITS = Math.log2(CLASSES_PER_DOUBLING)

/**
 * Memory in blocks: two-level segregated fit. It allocates and frees in constant time and joins free neighbours. See
 * Masmano and others, "TLSF: A New Dynamic Memory Allocator for Real-Time Systems", ECRTS 2004.
 *
 * Its words change by the undo log. What a transaction frees is given back at its end: if it is undone, the contents
 * are still there.
 */
export class BlockAllocator {
  readonly #memory: UndoMemory
  #freed: number[] = []

  constructor(memory: UndoMemory) {
    this.#memory = memory
  }

  /** One free block of all memory, and one of no size that ends it. */
  format(): void {
    const { blocksBegin, blocksEnd } = this.#memory.header
    const size = blocksEnd - blocksBegin - 16
    this.#memory.setWord(blocksBegin + Offset.SizeBefore, 0)
    this.#memory.setWord(blocksBegin + size + Offset.Size, 0)
    this.#insert(blocksBegin, size)
  }

  get usedBytes(): number {
    return this.#memory.float(HeaderOffset.UsedBytes)
  }

  /** Where the contents begin, a multiple of 8. They are not cleared. @throws HeapFullError */
  allocate(lengthBytes: number): number {
    const wanted = Math.max(BLOCK_BYTES_MIN, (lengthBytes + HEADER_BYTES + 15) & ~15)
    const block = this.#find(wanted)
    const size = this.#memory.word(block + Offset.Size) & ~FREE
    this.#unlink(block, size)
    // What the block holds is written without log: keep what it was as a free one.
    this.#memory.keep(block + Offset.Next)
    this.#memory.keep(block + Offset.Previous)
    const taken = size - wanted >= BLOCK_BYTES_MIN ? wanted : size
    this.#memory.setWord(block + Offset.Size, taken)
    if (taken < size) this.#insert(block + taken, size - taken, taken)
    this.#memory.setFloat(HeaderOffset.UsedBytes, this.usedBytes + taken)
    return block + HEADER_BYTES
  }

  /** Blocks that are given back when the transaction ends. */
  get freedBlocks(): number {
    return this.#freed.length
  }

  /** Give the block back when the transaction ends. */
  free(at: number): void {
    this.#freed.push(at - HEADER_BYTES)
  }

  /** Before the transaction is committed. */
  settle(): void {
    for (const block of this.#freed) this.#release(block)
    this.#freed.length = 0
  }

  /** The transaction is undone. */
  forget(): void {
    this.#freed.length = 0
  }

  #release(block: number): void {
    const memory = this.#memory
    let begin = block
    let size = memory.word(block + Offset.Size)
    memory.setFloat(HeaderOffset.UsedBytes, this.usedBytes - size)
    const after = memory.word(block + size + Offset.Size)
    if ((after & FREE) !== 0) {
      this.#unlink(block + size, after & ~FREE)
      size += after & ~FREE
    }
    const before = begin - memory.word(begin + Offset.SizeBefore)
    if (before !== begin && (memory.word(before + Offset.Size) & FREE) !== 0) {
      const beforeSize = memory.word(before + Offset.Size) & ~FREE
      this.#unlink(before, beforeSize)
      begin = before
      size += beforeSize
    }
    this.#insert(begin, size)
  }

  /** Make it a free block; `sizeBefore` if it is a new one. */
  #insert(block: number, size: number, sizeBefore?: number): void {
    const memory = this.#memory
    const at = classOf(size)
    const head = HeaderOffset.FreeBlocks + at * 4
    const next = memory.word(head)
    memory.setWord(block + Offset.Size, size | FREE)
    if (sizeBefore !== undefined) memory.setWord(block + Offset.SizeBefore, sizeBefore)
    memory.setWord(block + size + Offset.SizeBefore, size)
    memory.setWord(block + Offset.Next, next)
    memory.setWord(block + Offset.Previous, 0)
    if (next !== 0) memory.setWord(next + Offset.Previous, block)
    memory.setWord(head, block)
    if (next === 0) this.#mark(at, true)
  }

  #unlink(block: number, size: number): void {
    const memory = this.#memory
    const next = memory.word(block + Offset.Next)
    const previous = memory.word(block + Offset.Previous)
    if (next !== 0) memory.setWord(next + Offset.Previous, previous)
    if (previous !== 0) {
      memory.setWord(previous + Offset.Next, next)
      return
    }
    const at = classOf(size)
    memory.setWord(HeaderOffset.FreeBlocks + at * 4, next)
    if (next === 0) this.#mark(at, false)
  }

  #mark(at: number, free: boolean): void {
    const memory = this.#memory
    const doubling = at >>> CLASS_BITS
    const place = HeaderOffset.Classes + doubling * 4
    const bit = 1 << (at & (CLASSES_PER_DOUBLING - 1))
    const before = memory.word(place)
    const classes = free ? before | bit : before & ~bit
    memory.setWord(place, classes)
    if ((before === 0) === (classes === 0)) return
    const doublings = memory.word(HeaderOffset.Doublings)
    const all = classes === 0 ? doublings & ~(1 << doubling) : doublings | (1 << doubling)
    memory.setWord(HeaderOffset.Doublings, all)
  }

  /**
   * A free block: one of the class of this size that happens to be large enough, else of a class whose blocks all are.
   * Only when memory is short are many looked at.
   */
  #find(wanted: number): number {
    const found = this.#fitting(wanted, LOOKS_MIN) || this.#fittingAny(wanted) || this.#fitting(wanted, LOOKS_MAX)
    if (found === 0) throw this.#full(wanted)
    return found
  }

  #fitting(wanted: number, looks: number): number {
    const memory = this.#memory
    let block = memory.word(HeaderOffset.FreeBlocks + classOf(wanted) * 4)
    for (let look = 0; look < looks && block !== 0; look += 1) {
      if ((memory.word(block + Offset.Size) & ~FREE) >= wanted) return block
      block = memory.word(block + Offset.Next)
    }
    return 0
  }

  #fittingAny(wanted: number): number {
    const memory = this.#memory
    const step = 2 ** (31 - Math.clz32(wanted) - CLASS_BITS)
    const at = classOf(wanted + step - 1)
    let doubling = at >>> CLASS_BITS
    let classes = memory.word(HeaderOffset.Classes + doubling * 4) & (-1 << (at & (CLASSES_PER_DOUBLING - 1)))
    if (classes === 0) {
      const doublings = doubling >= 31 ? 0 : memory.word(HeaderOffset.Doublings) & (-1 << (doubling + 1))
      if (doublings === 0) return 0
      doubling = lowestBit(doublings)
      classes = memory.word(HeaderOffset.Classes + doubling * 4)
    }
    const found = (doubling << CLASS_BITS) + lowestBit(classes)
    return memory.word(HeaderOffset.FreeBlocks + found * 4)
  }

  #full(wanted: number): HeapFullError {
    const { blocksBegin, blocksEnd } = this.#memory.header
    const why = ' by jobs and events (removeOnComplete, removeOnFail and streams.events.maxLen bound them)'
    return new HeapFullError(wanted, this.usedBytes, blocksEnd - blocksBegin, why)
  }
}

export function classOf(size: number): number {
  const doubling = 31 - Math.clz32(size)
  return (doubling << CLASS_BITS) + ((size >>> (doubling - CLASS_BITS)) & (CLASSES_PER_DOUBLING - 1))
}

function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word)
}

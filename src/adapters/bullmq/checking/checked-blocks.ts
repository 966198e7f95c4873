import { isUtf8 } from 'node:buffer'
import { FREE_BLOCK, must, StoreBlockOffset } from '../../../structures/index.ts'
import { BLOCK_BYTES_MIN, classOf, HEADER_BYTES } from '../store/block-allocator.ts'
import { CLASSES_PER_DOUBLING, HeaderOffset } from '../store/layout.ts'
import type { UndoMemory } from '../store/undo-memory.ts'

const GRANULE_BYTES = 16
const CLASSES = CLASSES_PER_DOUBLING * 32
/** What is known of the block that begins at a granule. `Entry`: it is claimed, and in no bucket of its table yet. */
const Mark = { None: 0, Used: 1, Free: 2, Listed: 3, Claimed: 4, Entry: 5 } as const

/** The blocks of a store that no process uses. What a word refers to is claimed before it is read, so once. */
export class CheckedBlocks {
  readonly memory: UndoMemory
  readonly #marks: Uint8Array
  #unclaimedBytes = 0

  constructor(memory: UndoMemory) {
    this.memory = memory
    this.#marks = new Uint8Array(Math.ceil(memory.bytes.length / GRANULE_BYTES))
  }

  /** Sizes fit together from end to end, and each free block is in the list of its class. @throws Damage */
  walk(): void {
    const { memory } = this
    const { blocksBegin, blocksEnd } = memory.header
    const end = blocksEnd - GRANULE_BYTES
    let [before, free] = [0, 0]
    let isFree = false
    for (let at = blocksBegin; ; at += before) {
      const size = memory.word(at + StoreBlockOffset.Size)
      must(memory.word(at + StoreBlockOffset.SizeBefore) === before, 'a block does not follow the one before')
      if (at === end) {
        must(size === 0, 'its last block is missing')
        break
      }
      const wasFree = isFree
      isFree = (size & FREE_BLOCK) !== 0
      before = size & ~FREE_BLOCK
      const isSound = before >= BLOCK_BYTES_MIN && before % GRANULE_BYTES === 0 && at + before <= end
      must(isSound && !(isFree && wasFree), 'a block has a size that it cannot have')
      this.#marks[at / GRANULE_BYTES] = isFree ? Mark.Free : Mark.Used
      if (isFree) free += 1
      else this.#unclaimedBytes += before
    }
    must(memory.float(HeaderOffset.UsedBytes) === this.#unclaimedBytes, 'its bytes in use are not counted')
    for (let at = 0; at < CLASSES; at += 1) free -= this.#list(at)
    must(free === 0, 'a free block is in no list')
    this.#checkBits()
  }

  /** How many free blocks a class lists. */
  #list(at: number): number {
    const { memory } = this
    let [count, previous] = [0, 0]
    for (let block = memory.word(HeaderOffset.FreeBlocks + at * 4); block !== 0; count += 1) {
      const size = memory.word(block + StoreBlockOffset.Size) & ~FREE_BLOCK
      const isThere = this.#marks[block / GRANULE_BYTES] === Mark.Free && classOf(size) === at
      must(isThere && memory.word(block + StoreBlockOffset.Previous) === previous, 'a list of free blocks is broken')
      this.#marks[block / GRANULE_BYTES] = Mark.Listed
      previous = block
      block = memory.word(block + StoreBlockOffset.Next)
    }
    return count
  }

  #checkBits(): void {
    const { memory } = this
    const doublings = memory.word(HeaderOffset.Doublings)
    for (let doubling = 0; doubling < 32; doubling += 1) {
      let bits = 0
      for (let at = 0; at < CLASSES_PER_DOUBLING; at += 1)
        if (memory.word(HeaderOffset.FreeBlocks + (doubling * CLASSES_PER_DOUBLING + at) * 4) !== 0) bits |= 1 << at
      const isSound = memory.word(HeaderOffset.Classes + doubling * 4) === bits
      must(isSound && ((doublings >>> doubling) & 1) === (bits === 0 ? 0 : 1), 'its classes of free blocks are wrong')
    }
  }

  /** The block whose contents begin at `at`; nothing has reached it before. Returns its length. @throws Damage */
  claim(at: number, leastBytes: number, what: string): number {
    return this.#claim(at, leastBytes, what, Mark.Claimed)
  }

  /** The same of an entry that a bucket of its table must have, too. @throws Damage */
  claimEntry(at: number, leastBytes: number): number {
    return this.#claim(at, leastBytes, 'an entry', Mark.Entry)
  }

  /** A bucket has it. @throws Damage */
  takeEntry(at: number): void {
    must(this.#marks[granuleOf(at)] === Mark.Entry, 'a bucket has what is not an entry of its table')
    this.#marks[granuleOf(at)] = Mark.Claimed
  }

  /** The text whose reference is at `place`, if there is one. @throws Damage */
  text(place: number): string | undefined {
    const { memory } = this
    const at = memory.word(place)
    if (at === 0) return undefined
    const room = this.claim(at, 4, 'a text')
    const length = memory.word(at)
    const bytes = memory.bytes.subarray(at + 4, at + 4 + length)
    must(length >= 0 && length <= room - 4 && isUtf8(bytes), 'a text is longer than its block, or is no text')
    return bytes.toString()
  }

  /** @throws Damage */
  checkAllClaimed(): void {
    must(this.#unclaimedBytes === 0, `${this.#unclaimedBytes} bytes in use are reached by nothing`)
  }

  #claim(at: number, leastBytes: number, what: string, mark: number): number {
    must(this.#marks[granuleOf(at)] === Mark.Used, `${what} is not a block in use, or is reached twice`)
    const size = this.memory.word(at - HEADER_BYTES)
    must(size - HEADER_BYTES >= leastBytes, `${what} is longer than its block`)
    this.#marks[granuleOf(at)] = mark
    this.#unclaimedBytes -= size
    return size - HEADER_BYTES
  }
}

function granuleOf(at: number): number {
  return (at - HEADER_BYTES) / GRANULE_BYTES
}

import type { BlockPool, OwnBlock } from '../heap/block-pool.ts'
import { bytesOfClass, decodeBlock, encodeBlock } from '../heap/block-word.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { headBytes, readBlockHead, readValueBlock, type ValueBlock, writeValueBlock } from '../heap/value-block.ts'
import { CompareExchangeCommand, ReadCommand, WriteCommand } from '../memory/command.ts'
import type { GroupBell } from '../waiting/group-bell.ts'
import { backOff, Turns } from '../waiting/turns.ts'
import { waitingRanksBytes } from '../waiting/waiting-ranks.ts'
import type { GroupListCore } from './group-list.ts'
import { belowIn, namesAbove, STACK_HEAD_BYTES_MAX } from './stack-names.ts'

/** Bytes of a stack's body: the word of its top, and the marks of those that wait for a value, and for room. */
export function stackBytes(ranks: number): number {
  return 8 + 2 * waitingRanksBytes(ranks)
}

/** What comes next is read ahead where its block is no longer. */
const AHEAD_BYTES_MAX = 1024

/** What lies on top, as this rank knows it. None of it changes while that word is the top's. */
interface Top {
  /** 0: nothing lies there. */
  readonly word: bigint
  readonly depth: number
  /** Those below; undefined where they have not been read. */
  readonly names: readonly bigint[] | undefined
  readonly value: Uint8Array | undefined
  /** Of its whole block, where that was read ahead. */
  readonly read?: ReadCommand | undefined
}

/** How much of a block is read. */
const HEAD_ONLY = STACK_HEAD_BYTES_MAX
const WHOLE = Number.POSITIVE_INFINITY

const NOTHING: Top = { word: 0n, depth: 0, names: [], value: undefined }

/**
 * A stack at one home, as one rank uses it: Treiber's list ("Systems programming: coping with parallelism", 1986). One
 * word names the block on top, and each block says what lies below it.
 *
 * **Push** writes a block that names the top as the one below it. It takes effect in the compare-and-swap that puts the
 * block's name in place of the top's.
 *
 * **Pop** reads the top's block. It takes effect in the compare-and-swap that replaces the top's name by the name of
 * the one below. A name is never the same twice (heap/block-word.ts). So if the swap succeeds, nothing was pushed or
 * popped since the block was read, and the block cannot have been used again.
 *
 * **Nothing there** and **no room** are told by a READ of the word: the block on top says how many lie there. A rank
 * that is killed has done it or not; nothing is left to finish.
 *
 * A census has to find the blocks of a stack, which would be a round trip for each. So a block has the names of up to
 * 16 below it (stack-names.ts).
 *
 * Round trips:
 * - push: 1 if this rank was the last one here, else 3; 2 more for each time that others were faster
 * - pop: 3; of several in a row 1 each
 */
export class GroupStackCore implements GroupListCore {
  readonly #memory: HomeMemory
  readonly #pool: BlockPool
  readonly #place: number
  /** 0: no bound. */
  readonly #capacity: number
  readonly filled: GroupBell
  readonly emptied: GroupBell
  readonly #turns = new Turns()
  /** As it was when this rank was here last. */
  #top: Top | undefined

  constructor(memory: HomeMemory, pool: BlockPool, place: number, capacity: number) {
    this.#memory = memory
    this.#pool = pool
    this.#place = place
    this.#capacity = capacity
    this.filled = memory.bell(place + 8, 'one')
    this.emptied = memory.bell(place + 8 + waitingRanksBytes(memory.group.ranks), 'one')
  }

  push(value: Uint8Array): Promise<boolean> {
    return this.#turns.take(() => this.#push(value))
  }

  pop(): Promise<Uint8Array | undefined> {
    return this.#turns.take(() => this.#pop())
  }

  async length(): Promise<number> {
    return (await this.#look(HEAD_ONLY)).depth
  }

  async #push(value: Uint8Array): Promise<boolean> {
    let block: OwnBlock | undefined
    let there: bigint | undefined
    try {
      for (let attempt = 0; ; attempt += 1) {
        await backOff(this.#memory.group, attempt)
        const known = this.#top
        const top = known?.names === undefined || this.#isFull(known) ? await this.#look(HEAD_ONLY, there) : known
        if (this.#isFull(top)) return false
        const names = namesAbove(top.word, top.depth, top.names!)
        block = await this.#fitting(block, headBytes(names.length + 1) + value.length)
        there = await this.#cover(top, names, block, value)
        if (there !== undefined) continue
        this.#pool.linked(block)
        block = undefined
        return true
      }
    } finally {
      if (block !== undefined) this.#pool.release(block)
    }
  }

  async #pop(): Promise<Uint8Array | undefined> {
    let there: bigint | undefined
    for (let attempt = 0; ; attempt += 1) {
      await backOff(this.#memory.group, attempt)
      const known = this.#top
      const top = known === undefined || known.word === 0n ? await this.#look(WHOLE, there) : await this.#whole(known)
      if (top?.word === 0n) return undefined
      there = undefined
      if (top === undefined) this.#top = undefined
      else {
        there = await this.#take(top)
        if (there === undefined) return top.value
      }
    }
  }

  /** Put the block onto the top. Undefined when it is there; else the word of what is the top by now. */
  async #cover(top: Top, names: readonly bigint[], block: OwnBlock, value: Uint8Array): Promise<bigint | undefined> {
    const depth = top.depth + 1
    const word = encodeBlock({ ...block, fingerprint: 0, tentative: false })
    const bytes = writeValueBlock(block.tag, [BigInt(depth), ...names], value)
    const cover = new CompareExchangeCommand(this.#place, top.word, word)
    const waiting = this.filled.read()
    await this.#memory.run([new WriteCommand(block.offset, bytes), cover, waiting])
    if (cover.swapped) void this.filled.ring(waiting)
    this.#top = cover.swapped ? { word, depth, names, value } : undefined
    return cover.swapped ? undefined : cover.before
  }

  /**
   * Take the top away, and read what lies below. Undefined when that is done; else the word of what is the top by now.
   */
  async #take(top: Top): Promise<bigint | undefined> {
    const names = top.names!
    const below = names[0]!
    const take = new CompareExchangeCommand(this.#place, top.word, below)
    const read = below === 0n ? undefined : readAhead(below)
    const waiting = this.#capacity === 0 ? undefined : this.emptied.read()
    await this.#memory.run([take, read, waiting].filter((command) => command !== undefined))
    this.#top = undefined
    if (!take.swapped) return take.before
    if (waiting !== undefined) void this.emptied.ring(waiting)
    this.#pool.release(decodeBlock(top.word)!)
    const depth = top.depth - 1
    this.#top = below === 0n ? NOTHING : { word: below, depth, names: belowIn(names), value: undefined, read }
    return undefined
  }

  /** The top of this moment, or that which was seen `there`. Two round trips, or one. */
  async #look(bytesMax: number, there?: bigint): Promise<Top> {
    for (let seen = there; ; seen = undefined) {
      const word = seen ?? (await this.#memory.load64(this.#place))
      const top = word === 0n ? NOTHING : await this.#read(word, bytesMax)
      if (top !== undefined) return top
    }
  }

  /** With its value; undefined where its block is another by now. */
  async #whole(top: Top): Promise<Top | undefined> {
    return top.value === undefined ? await this.#read(top.word, WHOLE, top.read) : top
  }

  /** What a block says, within its first `bytesMax` bytes. */
  async #read(word: bigint, bytesMax: number, ahead?: ReadCommand): Promise<Top | undefined> {
    const name = decodeBlock(word)!
    const lengthBytes = Math.min(bytesMax, bytesOfClass(name.sizeClass))
    const { bytes } = ahead ?? (await this.#memory.read(name.offset, lengthBytes))
    const block = bytesMax === WHOLE ? readValueBlock(name, bytes) : readBlockHead(name, bytes)
    if (block === undefined) return undefined
    const [depth, ...names] = block.words as readonly [bigint, ...bigint[]]
    return { word, depth: Number(depth), names, value: 'value' in block ? (block as ValueBlock).value : undefined }
  }

  /** A block of `lengthBytes` bytes: this one, or another in its place. */
  async #fitting(block: OwnBlock | undefined, lengthBytes: number): Promise<OwnBlock> {
    if (block !== undefined && bytesOfClass(block.sizeClass) >= lengthBytes) return block
    const fitting = await this.#pool.take(lengthBytes)
    if (block !== undefined) this.#pool.release(block)
    return fitting
  }

  #isFull({ depth }: Top): boolean {
    return this.#capacity !== 0 && depth >= this.#capacity
  }
}

function readAhead(word: bigint): ReadCommand | undefined {
  const { offset, sizeClass } = decodeBlock(word)!
  const lengthBytes = bytesOfClass(sizeClass)
  return lengthBytes > AHEAD_BYTES_MAX ? undefined : new ReadCommand(offset, lengthBytes)
}

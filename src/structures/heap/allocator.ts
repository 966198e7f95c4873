import type { MemoryExhaustedError } from '../../dsm/index.ts'
import type { Backing } from '../memory/backing.ts'
import { BlockKind, blockState, generationOf, kindOf, slotOf } from './block-state.ts'
import type { BlockTable } from './block-table.ts'
import { Growth } from './growth.ts'
import type { Intent } from './intent.ts'
import { GRANULE_BYTES, SLAB_BYTES } from './layout.ts'
import { keptBack, Shrinking } from './shrinking.ts'
import { blocksPerSlab, CLASS_GRANULES, classFor } from './size-classes.ts'
import { SlabKind, slabDetail, slabKind, slabSlot, slabWord } from './slab-word.ts'

/** Free blocks that a participant keeps in mind for each size. */
const HINTS_MAX = 4096

/** Blocks of these sizes may come from the slabs that are kept back: marks of deleted keys, nodes. */
const SMALL_CLASS_MAX = 1

/** A block that only the caller can see. `reference` 0: there is no memory. */
export interface Allocation {
  reference: number
  state: number
}

/**
 * Takes blocks, and gives them back.
 *
 * A block has no owner until it is taken by a compare-and-swap of its state. So a process that is killed holds nothing
 * back but what its intent names. Each participant remembers for itself which blocks might be free; an outdated hint
 * costs one look. A slab has blocks of one size. It becomes free for another size when all of its blocks are free and
 * memory is short.
 */
export class Allocator {
  readonly #blocks: BlockTable
  readonly #slot: number
  readonly #hints: number[][] = CLASS_GRANULES.map(() => [])
  /**
   * Slabs that this participant made ready, by size: looked through before those of others, to keep out of their way.
   */
  readonly #own: number[][] = CLASS_GRANULES.map(() => [])
  /** How often blocks of each slab had been freed when we last looked through it; -1 before. */
  readonly #seen: Int32Array
  readonly #growth: Growth
  /** Undefined if all memory stays. */
  readonly #shrinking: Shrinking | undefined
  /** Where to look for a free slab next. */
  #cursor: number

  constructor(blocks: BlockTable, slot: number, backing: Backing) {
    this.#blocks = blocks
    this.#slot = slot
    this.#seen = new Int32Array(blocks.layout.slabs).fill(-1)
    this.#growth = new Growth(blocks, slot, backing)
    this.#shrinking = backing.isWhole ? undefined : new Shrinking(blocks, slot, backing)
    this.#cursor = (slot * 7) % Math.max(1, blocks.layout.slabs)
  }

  /** Why memory was refused, if the machine or the disk has none left. */
  get refusal(): MemoryExhaustedError | undefined {
    return this.#growth.refusal
  }

  /**
   * Take a block of at least `lengthBytes`; `intent` names it before it is taken. False when there is none.
   * `essential`: it may come from what is kept back.
   */
  allocate(lengthBytes: number, intent: Intent, into: Allocation, essential: boolean = false): boolean {
    const sizeClass = classFor(lengthBytes)
    if (sizeClass < 0) return this.#allocateSlabs(Math.ceil(lengthBytes / SLAB_BYTES), intent, into, essential)
    const hints = this.#hints[sizeClass]!
    for (;;) {
      const reference = hints.pop() ?? this.#refill(sizeClass, essential || sizeClass <= SMALL_CLASS_MAX)
      if (reference === 0) return false
      if (this.#take(reference, sizeClass, intent, into)) return true
    }
  }

  /** Give back a block that no other participant can have seen. */
  release({ reference, state }: Allocation): void {
    this.free(reference, state)
  }

  /** Give back a block that no participant can see any more. Its state must be the caller's to change. */
  free(reference: number, state: number): void {
    if (this.#blocks.poisons) this.#blocks.poison(reference)
    const slab = this.#blocks.slabOf(reference)
    const word = this.#blocks.peekWord(slab)
    if (slabKind(word) === SlabKind.Head) {
      this.#freeSlabs(slab, word)
      this.#shrinking?.noteSlabs(slabDetail(word))
    } else {
      this.#blocks.free(reference, state)
      const hints = this.#hints[slabDetail(word)]!
      if (hints.length < HINTS_MAX) hints.push(reference)
      this.#shrinking?.noteBlock(reference, slab, slabDetail(word))
    }
    if (this.#shrinking?.isDue === true) this.#shrinking.giveBack((empty) => this.#closeIfEmpty(empty))
  }

  /** Give slabs all of whose blocks are free back for other sizes. */
  closeEmptySlabs(): void {
    for (let slab = 0, { backed } = this.#blocks; slab < backed; slab += 1) this.#closeIfEmpty(slab)
  }

  /** Give back the memory of all slabs that are empty, but for some slack. */
  giveBack(): void {
    if (this.#shrinking === undefined) return
    this.closeEmptySlabs()
    this.#shrinking.giveBack((slab) => this.#closeIfEmpty(slab))
  }

  /** Memory is short: ask for more of it once again, even if it was refused a moment ago. */
  askAgain(): void {
    this.#growth.tryAgain()
  }

  /** Turn back what a dead member was doing to slabs. */
  recoverSlabs(dead: number): void {
    for (let slab = 0, { backed } = this.#blocks; slab < backed; slab += 1) {
      const word = this.#blocks.word(slab)
      if (slabSlot(word) !== dead) continue
      if (slabKind(word) === SlabKind.Bare) this.#blocks.changeWord(slab, word, slabWord(SlabKind.Hole, 0, 0))
      if (slabKind(word) === SlabKind.Claimed) this.#unclaim(slab, word)
      if (slabKind(word) === SlabKind.Closing) this.#reopen(slab, word, dead)
    }
  }

  #take(reference: number, sizeClass: number, intent: Intent, into: Allocation): boolean {
    const blocks = this.#blocks
    const state = blocks.peekState(reference)
    if (kindOf(state) !== BlockKind.Free) return false
    const taken = blockState(BlockKind.Live, this.#slot, generationOf(state) + 1)
    intent.noteNew(reference, taken)
    if (!blocks.change(reference, state, taken)) return false
    // The hint may be from before the slab was given another size. With a live block in it, it stays what it is.
    if (blocks.word(blocks.slabOf(reference)) !== slabWord(SlabKind.Sized, 0, sizeClass)) {
      if (blocks.change(reference, taken, freeAgain(taken))) blocks.countFreed(blocks.slabOf(reference))
      return false
    }
    into.reference = reference
    into.state = taken
    return true
  }

  /**
   * Find free blocks of a size: in our slabs, in a new one, in those of others, in one whose memory is taken for it.
   * Gives one of them; 0 when there are none.
   */
  #refill(sizeClass: number, essential: boolean): number {
    const own = this.#own[sizeClass]!
    for (const slab of own) if (this.#lookThrough(slab, sizeClass)) return this.#hint(sizeClass)
    if (this.#mayClaim(1, essential && !this.#grows) && this.#refillFresh(sizeClass)) return this.#hint(sizeClass)
    for (let slab = 0, { backed } = this.#blocks; slab < backed; slab += 1) {
      if (this.#lookThrough(slab, sizeClass)) return this.#hint(sizeClass)
    }
    const isMore = this.#growth.provide((resident) => 1 + keptBack(resident))
    return (isMore || essential) && this.#refillFresh(sizeClass) ? this.#hint(sizeClass) : 0
  }

  /** It takes memory before it touches what is kept back. */
  get #grows(): boolean {
    return this.#shrinking !== undefined
  }

  #refillFresh(sizeClass: number): boolean {
    const fresh = this.#claimSlab(sizeClass)
    if (fresh < 0) return false
    this.#own[sizeClass]!.push(fresh)
    return this.#lookThrough(fresh, sizeClass)
  }

  #hint(sizeClass: number): number {
    return this.#hints[sizeClass]!.pop() ?? 0
  }

  /** Remember the free blocks of a slab. False when there are none, or it has not changed since the last look. */
  #lookThrough(slab: number, sizeClass: number): boolean {
    const blocks = this.#blocks
    if (blocks.word(slab) !== slabWord(SlabKind.Sized, 0, sizeClass)) return false
    const freed = blocks.freed(slab)
    if (this.#seen[slab] === freed) return false
    this.#seen[slab] = freed
    const hints = this.#hints[sizeClass]!
    const before = hints.length
    blocks.eachBlock(slab, (reference, state) => {
      if (kindOf(state) === BlockKind.Free) hints.push(reference)
    })
    return hints.length > before
  }

  /** Make a free slab one of blocks of a size; -1 when there is none. */
  #claimSlab(sizeClass: number): number {
    const slab = this.#claimAny()
    if (slab < 0) return -1
    const blocks = this.#blocks
    const step = CLASS_GRANULES[sizeClass]!
    for (let at = 0; at < blocksPerSlab(sizeClass); at += 1) {
      const reference = blocks.headOf(slab) + at * step
      const state = blocks.state(reference)
      // A live block was just taken by a participant with an old hint. It looks at the slab's word next, and keeps the
      // block or gives it back.
      if (kindOf(state) !== BlockKind.Live) blocks.change(reference, state, freeAgain(state))
    }
    blocks.countFreed(slab)
    blocks.setWord(slab, slabWord(SlabKind.Sized, 0, sizeClass))
    return slab
  }

  #mayClaim(count: number, essential: boolean): boolean {
    if (essential) return true
    const { backed } = this.#blocks
    const enough = count + keptBack(backed)
    let [free, holes] = [0, 0]
    for (let slab = 0; slab < backed && free < enough; slab += 1) {
      const kind = slabKind(this.#blocks.peekWord(slab))
      if (kind === SlabKind.Free) free += 1
      if (kind === SlabKind.Hole) holes += 1
    }
    return free >= enough || free >= count + keptBack(backed - holes)
  }

  #claimAny(): number {
    const { backed } = this.#blocks
    for (let looked = 0; looked < backed; looked += 1) {
      const slab = (this.#cursor + looked) % backed
      if (this.#claim(slab)) {
        this.#cursor = slab
        return slab
      }
    }
    return -1
  }

  #claim(slab: number): boolean {
    const word = this.#blocks.peekWord(slab)
    if (slabKind(word) !== SlabKind.Free) return false
    return this.#blocks.changeWord(slab, word, slabWord(SlabKind.Claimed, this.#slot, 0))
  }

  /**
   * A block of several slabs in a row. The head's word is written last; until then recovery finds all of them claimed.
   */
  #allocateSlabs(count: number, intent: Intent, into: Allocation, essential: boolean): boolean {
    let first = this.#mayClaim(count, essential && !this.#grows) ? this.#claimRow(count) : -1
    if (first < 0 && (this.#provideRow(count) || essential)) first = this.#claimRow(count)
    if (first < 0) return false
    const blocks = this.#blocks
    const reference = blocks.headOf(first)
    const before = blocks.state(reference)
    const state = blockState(BlockKind.Live, this.#slot, generationOf(before) + 1)
    intent.noteNew(reference, state)
    if (kindOf(before) === BlockKind.Live || !blocks.change(reference, before, state)) {
      this.#unclaimRow(first + count, count)
      return false
    }
    for (let at = 1; at < count; at += 1) blocks.setWord(first + at, slabWord(SlabKind.Tail, 0, first))
    blocks.setWord(first, slabWord(SlabKind.Head, 0, count))
    into.reference = reference
    into.state = state
    return true
  }

  /** Take memory for a row, and for what is to be kept back beside it. */
  #provideRow(count: number): boolean {
    return this.#growth.provideRow(count) && this.#growth.provide((resident) => count + keptBack(resident))
  }

  #claimRow(count: number): number {
    const { backed } = this.#blocks
    let claimed = 0
    for (let slab = 0; slab < backed; slab += 1) {
      if (this.#claim(slab)) claimed += 1
      else claimed = this.#unclaimRow(slab, claimed)
      if (claimed === count) return slab - count + 1
    }
    this.#unclaimRow(backed, claimed)
    return -1
  }

  /** The `claimed` slabs below `end`. */
  #unclaimRow(end: number, claimed: number): 0 {
    for (let slab = end - claimed; slab < end; slab += 1) this.#blocks.setWord(slab, 0)
    return 0
  }

  #freeSlabs(head: number, word: number): void {
    const claimed = slabWord(SlabKind.Claimed, this.#slot, 0)
    if (this.#blocks.changeWord(head, word, claimed)) this.#unclaim(head, claimed)
  }

  /**
   * Free a claimed slab, and the rest of the block that it was the head of: from the end, so that what is left to do is
   * always in one row.
   */
  #unclaim(slab: number, word: number): void {
    const blocks = this.#blocks
    const tail = slabWord(SlabKind.Tail, 0, slab)
    let end = slab + 1
    while (end < blocks.backed && blocks.word(end) === tail) end += 1
    for (let at = end - 1; at > slab; at -= 1) blocks.setWord(at, 0)
    const reference = blocks.headOf(slab)
    const state = blocks.state(reference)
    const passing = kindOf(state) === BlockKind.Live && slotOf(state) !== slabSlot(word)
    if (!passing) blocks.change(reference, state, blockState(BlockKind.Closed, 0, generationOf(state)))
    blocks.changeWord(slab, word, 0)
  }

  /** Whether it was empty, and is free now. */
  #closeIfEmpty(slab: number): boolean {
    const word = this.#blocks.word(slab)
    return slabKind(word) === SlabKind.Sized && this.#looksEmpty(slab) && this.#close(slab, word)
  }

  #looksEmpty(slab: number): boolean {
    let empty = true
    this.#blocks.eachBlock(slab, (_reference, state) => {
      empty &&= kindOf(state) === BlockKind.Free
    })
    return empty
  }

  #close(slab: number, word: number): boolean {
    const blocks = this.#blocks
    const closing = slabWord(SlabKind.Closing, this.#slot, slabDetail(word))
    if (!blocks.changeWord(slab, word, closing)) return false
    let closed = true
    blocks.eachBlock(slab, (reference, state) => {
      closed &&=
        kindOf(state) === BlockKind.Free &&
        blocks.change(reference, state, blockState(BlockKind.Closed, this.#slot, generationOf(state)))
    })
    if (closed) blocks.setWord(slab, 0)
    else this.#reopen(slab, closing, this.#slot)
    this.#forget(slab, slabDetail(word))
    return closed
  }

  #reopen(slab: number, closing: number, by: number): void {
    const blocks = this.#blocks
    blocks.eachBlock(slab, (reference, state) => {
      if (state === blockState(BlockKind.Closed, by, generationOf(state))) blocks.free(reference, state)
    })
    blocks.changeWord(slab, closing, slabWord(SlabKind.Sized, 0, slabDetail(closing)))
  }

  #forget(slab: number, sizeClass: number): void {
    this.#seen[slab] = -1
    const own = this.#own[sizeClass]!
    const at = own.indexOf(slab)
    if (at >= 0) own.splice(at, 1)
  }

  /** What a block of `lengthBytes` really takes. */
  static roundUp(lengthBytes: number): number {
    const sizeClass = classFor(lengthBytes)
    if (sizeClass < 0) return Math.ceil(lengthBytes / SLAB_BYTES) * SLAB_BYTES
    return CLASS_GRANULES[sizeClass]! * GRANULE_BYTES
  }
}

/** Free, and of the next generation: a participant that knew the block before does not know this one. */
function freeAgain(state: number): number {
  return blockState(BlockKind.Free, 0, generationOf(state) + 1)
}

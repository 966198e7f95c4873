import { HeapFullError } from '../../errors.ts'
import { CHUNK_BYTES } from '../memory/layout.ts'
import { type BlockName, bytesOfClass, CLASS_BYTES, classFor, TAG_MASK } from './block-word.ts'
import type { Census } from './census.ts'
import { type Chunk, Chunks, type ChunkUse, chunkOffset } from './chunks.ts'
import type { HomeMemory } from './home-memory.ts'
import { type Asked, Reclaim, saidOf } from './reclaim.ts'

/** What this rank knows of a block in a chunk of its own. */
const State = {
  Free: 0,
  /** An operation of this rank is about to put it somewhere. */
  Busy: 1,
  /** It was put somewhere, and may have been taken out by others since. */
  Linked: 2,
  /** Linked when a census began. */
  Examined: 3,
} as const

/** Blocks of a class that are made before it is looked whether others took some out. */
const MADE_MIN = 256

interface OwnChunk {
  readonly chunk: Chunk
  readonly sizeClass: number
  readonly tags: Uint32Array
  readonly states: Uint8Array
}

/** A block that is this rank's to fill. */
export type OwnBlock = Omit<BlockName, 'fingerprint' | 'tentative'>

/**
 * The blocks that this rank has at one home: those in the chunks that it took.
 *
 * An owner is not told when its block is taken out of a map. Otherwise a rank that died between taking it out and
 * telling would leave it lost. Instead the owner looks from time to time which of its blocks are in no slot any more
 * (../census.ts).
 *
 * An owner's operation puts a block into one slot, once, and it never moves. So a block that no slot names, and that no
 * operation of the owner is about, is free for good. The home looks through the blocks of a dead rank in the same way.
 */
export class BlockPool {
  readonly #memory: HomeMemory
  readonly #chunks: Chunks
  readonly #takeCensus: () => Promise<Census>
  readonly #cutOld: (objects: Census['objects']) => Promise<boolean>
  readonly #own = new Map<number, OwnChunk>()
  readonly #free: OwnBlock[][] = CLASS_BYTES.map(() => [])
  #made = 0
  #kept = 0
  #sweeping: Promise<void> | undefined
  /** As the last census has found them. */
  #objects: Census['objects'] = []
  #cutting: Promise<boolean> | undefined
  readonly #reclaim: Reclaim
  #asked: Asked = { ranks: 0, looked: 0 }
  readonly #making = new Map<number, Promise<boolean>>()

  /**
   * `cutOld`: drops the names that objects still hold of blocks that no reader can need any more, after a census;
   * returns whether there were any. Takes no block.
   */
  constructor(
    memory: HomeMemory,
    takeCensus: () => Promise<Census>,
    cutOld: (objects: Census['objects']) => Promise<boolean>,
  ) {
    this.#memory = memory
    this.#chunks = new Chunks(memory)
    this.#takeCensus = takeCensus
    this.#cutOld = cutOld
    this.#reclaim = new Reclaim(memory)
  }

  get chunks(): Chunks {
    return this.#chunks
  }

  /** Blocks that are not free, as far as is known here. */
  get used(): number {
    let used = 0
    for (const { states } of this.#own.values()) for (const state of states) if (state !== State.Free) used += 1
    return used
  }

  /** A block of at least `lengthBytes` bytes. @throws HeapFullError */
  async take(lengthBytes: number): Promise<OwnBlock> {
    const sizeClass = classFor(lengthBytes)
    if (sizeClass === undefined) throw this.#full(lengthBytes)
    for (;;) {
      const block = this.#free[sizeClass]?.pop()
      if (block !== undefined) return this.#begin(block)
      if (!(await this.#makeMoreOnce(sizeClass))) throw this.#full(lengthBytes)
    }
  }

  /** It was put into a slot. */
  linked(block: OwnBlock): void {
    const own = this.#owner(block)
    if (own === undefined) return
    const at = indexOf(own, block)
    // Another operation of this rank may have taken it out already.
    if (own.states[at] === State.Busy && own.tags[at] === block.tag) own.states[at] = State.Linked
  }

  /**
   * This rank has taken it out of its slot, or never put it into one. Nothing to do where it is another's: that one
   * looks.
   */
  release(block: OwnBlock): void {
    const own = this.#owner(block)
    if (own === undefined) return
    const at = indexOf(own, block)
    if (own.states[at] === State.Free || own.tags[at] !== block.tag) return
    own.states[at] = State.Free
    this.#free[own.sizeClass]?.push(blockAt(own, at))
  }

  /** Find what is in no slot any more. Chunks that are wholly free are given back. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweeping = undefined
    })
    return this.#sweeping
  }

  /**
   * A chunk for another use than blocks. Where none is free this rank and the others give back what they do not need.
   * Undefined where there is none even so.
   */
  async takeChunk(use: ChunkUse): Promise<Chunk | undefined> {
    const free = await this.#chunks.take(use)
    if (free !== undefined) return free
    await this.#sweepAll(() => false)
    return await this.#takeHeld(use)
  }

  /**
   * Another rank has found no free chunk at this home: give back all that are wholly free, and say that it was looked.
   */
  async giveBackForOthers(): Promise<void> {
    // One that is under way may have passed what was taken out since.
    await this.#sweeping?.catch(() => {})
    if (this.#own.size > 0) await this.sweep()
    await this.#giveBackFree(0)
    await this.#reclaim.answer()
  }

  /**
   * The blocks of a rank that is out of the group, and cannot reach this memory any more, are this rank's now. For the
   * home.
   */
  async adopt(owner: number): Promise<void> {
    const taken = (await this.#chunks.taken()).filter((chunk) => chunk.owner === owner)
    if (taken.length === 0) return
    const census = await this.#takeCensus()
    for (const chunk of taken) {
      if (chunk.use.kind === 'blocks') await this.#adoptBlocks(chunk, chunk.use.sizeClass)
      else if (!census.tables.has(chunkOffset(chunk.index))) await this.#chunks.giveBack(chunk, chunk.tagFloor)
    }
    await this.sweep()
  }

  #begin(block: OwnBlock): OwnBlock {
    const own = this.#owner(block)!
    const at = indexOf(own, block)
    const tag = (own.tags[at]! + 1) & TAG_MASK || 1
    own.tags[at] = tag
    own.states[at] = State.Busy
    this.#made += 1
    return { ...block, tag }
  }

  /** Calls that find no block at the same time share what one of them takes. */
  #makeMoreOnce(sizeClass: number): Promise<boolean> {
    const making =
      this.#making.get(sizeClass) ?? this.#makeMore(sizeClass).finally(() => this.#making.delete(sizeClass))
    this.#making.set(sizeClass, making)
    return making
  }

  /** True where there are free blocks of the class now. */
  async #makeMore(sizeClass: number): Promise<boolean> {
    const isThere = (): boolean => (this.#free[sizeClass]?.length ?? 0) > 0
    if (this.#made >= MADE_MIN + this.#kept) await this.sweep()
    if (!isThere()) await this.#takeChunk(sizeClass)
    if (!isThere()) await this.#sweepAll(isThere)
    if (!isThere()) {
      const held = await this.#takeHeld({ kind: 'blocks', sizeClass })
      if (held !== undefined) this.#addChunk(held, sizeClass)
    }
    return isThere()
  }

  /** The same, and where that is not `enough` once more without old versions. */
  async #sweepAll(enough: () => boolean): Promise<void> {
    await this.sweep()
    if (enough() || this.#objects.length === 0) return
    this.#cutting ??= this.#cutOld(this.#objects).finally(() => {
      this.#cutting = undefined
    })
    if (!(await this.#cutting)) return
    // One that is under way may have passed what was cut off since.
    await this.#sweeping?.catch(() => {})
    await this.sweep()
  }

  /** One that this rank, or another, holds and does not need. */
  async #takeHeld(use: ChunkUse): Promise<Chunk | undefined> {
    await this.#giveBackFree(0)
    let taken = await this.#chunks.take(use)
    if (taken !== undefined) return taken
    this.#asked = await this.#reclaim.ask(async () => {
      taken = await this.#chunks.take(use)
      return taken !== undefined
    })
    return taken ?? (await this.#chunks.take(use))
  }

  async #sweep(): Promise<void> {
    for (const { states } of this.#own.values()) {
      for (let at = 0; at < states.length; at += 1) if (states[at] === State.Linked) states[at] = State.Examined
    }
    const census = await this.#takeCensus()
    this.#objects = census.objects
    await this.#undo(census)
    this.#made = 0
    this.#kept = 0
    for (const own of this.#own.values()) this.#settle(own, census)
    // One chunk of each class is kept: it would be taken again at once.
    await this.#giveBackFree(1)
  }

  /** Give back the chunks that are wholly free, but for a fixed number of each class. */
  async #giveBackFree(kept: number): Promise<void> {
    for (const own of [...this.#own.values()]) await this.#giveBackIfFree(own, kept)
  }

  /** Slots that were claimed for blocks of dead ranks, and will never be filled. */
  async #undo({ tentative }: Census): Promise<void> {
    for (const { place, word, empty, block } of tentative) {
      const own = this.#owner(block)
      if (own?.states[indexOf(own, block)] === State.Examined) await this.#memory.compareExchange64(place, word, empty)
    }
  }

  #settle(own: OwnChunk, census: Census): void {
    const { states } = own
    for (let at = 0; at < states.length; at += 1) {
      if (states[at] !== State.Examined) continue
      const block = blockAt(own, at)
      states[at] = State.Linked
      if (census.blocks.has(block.offset)) this.#kept += 1
      else this.release(block)
    }
  }

  async #giveBackIfFree(own: OwnChunk, kept: number): Promise<void> {
    const { chunk, sizeClass, states, tags } = own
    const free = this.#free[sizeClass]!
    if (!states.every((state) => state === State.Free) || free.length < (1 + kept) * states.length) return
    this.#own.delete(chunk.index)
    this.#free[sizeClass] = free.filter(({ offset }) => Math.floor(offset / CHUNK_BYTES) !== chunk.index)
    await this.#chunks.giveBack(
      chunk,
      tags.reduce((highest, tag) => Math.max(highest, tag), 0),
    )
  }

  async #takeChunk(sizeClass: number): Promise<void> {
    const chunk = await this.#chunks.take({ kind: 'blocks', sizeClass })
    if (chunk !== undefined) this.#addChunk(chunk, sizeClass)
  }

  #addChunk(chunk: Chunk, sizeClass: number): void {
    const own = newChunk(chunk, sizeClass, State.Free)
    own.tags.fill(chunk.tagFloor)
    this.#own.set(chunk.index, own)
    // The first is taken first.
    for (let at = own.states.length - 1; at >= 0; at -= 1) this.#free[sizeClass]?.push(blockAt(own, at))
  }

  async #adoptBlocks(chunk: Chunk, sizeClass: number): Promise<void> {
    const adopted = await this.#chunks.adopt(chunk)
    if (adopted === undefined) return
    const { bytes } = await this.#memory.read(chunkOffset(chunk.index), CHUNK_BYTES)
    const own = newChunk(adopted, sizeClass, State.Linked)
    const words = new DataView(bytes.buffer, bytes.byteOffset)
    for (let at = 0; at < own.tags.length; at += 1) {
      const tag = words.getUint32(at * bytesOfClass(sizeClass), true) & TAG_MASK
      own.tags[at] = Math.max(tag, chunk.tagFloor)
    }
    this.#own.set(chunk.index, own)
  }

  #owner({ offset }: { readonly offset: number }): OwnChunk | undefined {
    return this.#own.get(Math.floor(offset / CHUNK_BYTES))
  }

  #full(wantedBytes: number): HeapFullError {
    const { lengthBytes } = this.#chunks
    return new HeapFullError(
      wantedBytes,
      lengthBytes,
      lengthBytes,
      ` (${this.#memory.what}, kept at rank ${this.#memory.home}${saidOf(this.#asked)})`,
    )
  }
}

function newChunk(chunk: Chunk, sizeClass: number, state: number): OwnChunk {
  const count = Math.floor(CHUNK_BYTES / bytesOfClass(sizeClass))
  return { chunk, sizeClass, tags: new Uint32Array(count), states: new Uint8Array(count).fill(state) }
}

function indexOf({ sizeClass }: OwnChunk, { offset }: { readonly offset: number }): number {
  return Math.floor((offset % CHUNK_BYTES) / bytesOfClass(sizeClass))
}

function blockAt({ chunk, sizeClass, tags }: OwnChunk, at: number): OwnBlock {
  const offset = chunkOffset(chunk.index) + at * bytesOfClass(sizeClass)
  return { sizeClass, offset, tag: tags[at]! }
}

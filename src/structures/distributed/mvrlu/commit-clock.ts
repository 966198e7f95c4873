import type { BlockPool, OwnBlock } from '../heap/block-pool.ts'
import { type BlockName, bytesOfClass, decodeBlock, encodeBlock } from '../heap/block-word.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { takeAny } from '../heap/take-any.ts'
import { type Command, CompareExchangeCommand, ReadCommand, WriteCommand } from '../memory/command.ts'
import { backOff, Turns } from '../waiting/turns.ts'
import { BodyOffset, doneWord, SlotOffset } from './layout.ts'
import {
  readClock,
  readWriteSet,
  WRITE_SET_HEAD_BYTES,
  type WriteSet,
  type WriteSetEntry,
  writeSetBytes,
  writeWriteSet,
} from './write-set.ts'

/** A value of the clock; everything that was committed up to it is finished. */
export interface Moment {
  /** The word of the last write set; 0 before the first. */
  readonly word: bigint
  readonly clock: number
}

/** What is to be committed. */
export interface Commit {
  readonly lock: bigint
  readonly entries: readonly WriteSetEntry[]
  /** When its locks were known to be held. */
  readonly since: Moment
  /** What writes its versions; `anew`: nothing but the clock is another than the time before. */
  versions(clock: number, anew: boolean): readonly Command[]
}

/** The commit clock of some objects: see layout.ts. */
export class CommitClock {
  readonly #memory: HomeMemory
  readonly #pool: BlockPool
  readonly #place: number
  readonly #turns = new Turns()
  #known: Moment = { word: 0n, clock: 0 }

  constructor(memory: HomeMemory, pool: BlockPool, body: number) {
    this.#memory = memory
    this.#pool = pool
    this.#place = body + BodyOffset.Last
  }

  /** The last value that this rank has seen. */
  get known(): Moment {
    return this.#known
  }

  /**
   * Its value. A round trip if no rank has committed since this rank looked last, else two; four if a write set has to
   * be finished.
   */
  async now(): Promise<Moment> {
    for (;;) {
      const moment = await this.#momentOf(await this.#memory.load64(this.#place))
      if (moment !== undefined) return moment
    }
  }

  /**
   * Commit; gives the clock. Undefined where this rank was given up and its locks are another's. @throws HeapFullError:
   * nothing was done.
   */
  async commit(commit: Commit): Promise<number | undefined> {
    const block = await takeAny(this.#pool, writeSetBytes(commit.entries.length))
    // Those of one rank would only be in each other's way.
    return await this.#turns.take(() => this.#commit(commit, block))
  }

  /**
   * Whatever was to be committed behind a write set that is there before this is called will not be. @throws
   * HeapFullError
   */
  async fence(): Promise<void> {
    await this.commit({ lock: 0n, entries: [], since: this.#known, versions: () => [] })
  }

  async #commit(commit: Commit, block: OwnBlock): Promise<number | undefined> {
    let last: Moment | undefined = this.#known
    for (let attempt = 0; ; attempt += 1) {
      if (attempt > 0 || last.word !== commit.since.word) {
        await backOff(this.#memory.group, attempt)
        last = await this.#lastWhileHeld(commit)
        if (last === undefined) break
      }
      const set = { clock: last.clock + 1, lock: commit.lock, entries: commit.entries }
      const word = encodeBlock({ ...block, fingerprint: 0, tentative: true })
      const link = new CompareExchangeCommand(this.#place, last.word, word)
      const write = new WriteCommand(block.offset, writeWriteSet(block.tag, set))
      await this.#memory.runAll([...commit.versions(set.clock, attempt > 0), write, link])
      if (!link.swapped) continue
      this.#pool.linked(block)
      const before = decodeBlock(last.word)
      if (before !== undefined) this.#pool.release(before)
      await this.#finish(word, set)
      this.#see({ word: finished(word), clock: set.clock })
      return set.clock
    }
    this.#pool.release(block)
    return undefined
  }

  /** The clock, while all locks were held; undefined where they are not any more. */
  async #lastWhileHeld({ lock, entries }: Commit): Promise<Moment | undefined> {
    for (;;) {
      const last = new ReadCommand(this.#place, 8)
      // After it: what is read of them is not older.
      const locks = entries.map(({ place }) => new ReadCommand(place + SlotOffset.Lock, 8))
      await this.#memory.runAll([last, ...locks])
      if (!locks.every((read) => read.word() === lock)) return undefined
      const moment = await this.#momentOf(last.word())
      if (moment !== undefined) return moment
    }
  }

  /** Undefined where it is another by now. */
  async #momentOf(word: bigint): Promise<Moment | undefined> {
    if (word === this.#known.word) return this.#known
    const name = decodeBlock(word)
    if (name === undefined) return { word, clock: 0 }
    const clock = await (name.tentative ? this.#help(word, name) : this.#clockOf(name))
    return clock === undefined ? undefined : this.#see({ word: finished(word), clock })
  }

  async #clockOf(name: BlockName): Promise<number | undefined> {
    return readClock(name, (await this.#memory.read(name.offset, WRITE_SET_HEAD_BYTES)).bytes)
  }

  async #help(word: bigint, name: BlockName): Promise<number | undefined> {
    const set = readWriteSet(name, (await this.#memory.read(name.offset, bytesOfClass(name.sizeClass))).bytes)
    if (set === undefined) return undefined
    await this.#finish(word, set)
    return set.clock
  }

  /** All heads, and only then all locks and the word. Any rank may do it; doing it more than once does no harm. */
  async #finish(word: bigint, { lock, entries }: WriteSet): Promise<void> {
    const heads = entries
      .filter(({ before, after }) => before !== after)
      .map(({ place, before, after }) => new CompareExchangeCommand(place + SlotOffset.Head, before, after))
    if (heads.length > 0) await this.#memory.runAll(heads)
    const locks = entries.map(({ place }) => new CompareExchangeCommand(place + SlotOffset.Lock, lock, doneWord(lock)))
    await this.#memory.runAll([...locks, new CompareExchangeCommand(this.#place, word, finished(word))])
  }

  #see(moment: Moment): Moment {
    if (moment.clock > this.#known.clock) this.#known = moment
    return moment
  }
}

/** The same word, of a write set that is finished. */
function finished(word: bigint): bigint {
  return encodeBlock({ ...decodeBlock(word)!, tentative: false })
}

import type { Stay } from '../heap/epochs.ts'
import { type Heap, offsetOf } from '../heap/heap.ts'
import { HeaderOffset } from '../heap/layout.ts'
import { Reach } from '../heap/reach.ts'
import { Chain } from '../list/chain.ts'
import { nextOf, noteLinked } from '../list/node.ts'
import { WriteSetOffset } from './layout.ts'
import { finish, reclaim } from './settle.ts'
import { type Snapshot, Snapshots } from './snapshots.ts'
import { clearWriteSet, Words, writeSetBytes } from './write-set.ts'

/** How many write sets are committed between two collections. */
const LOW_MARK = 32
/** So many that are not collected, and the next section is begun by finding out who is dead, and collecting. */
const HIGH_MARK = 1024

/** What a section has of its own. */
export interface Reading {
  readonly stay: Stay
  readonly snapshot: Snapshot
}

/** The committed write sets of a heap, and the one that this participant has open. See layout.ts. */
export class CommitLog {
  readonly words: Words
  readonly #heap: Heap
  readonly #chain: Chain
  readonly #snapshots: Snapshots
  #isShort = false

  constructor(heap: Heap) {
    this.#heap = heap
    this.words = new Words(heap)
    this.#chain = new Chain(heap, HeaderOffset.CommitHead, HeaderOffset.CommitTail)
    this.#snapshots = new Snapshots(heap)
    heap.addCollector(() => this.collect(true))
  }

  /** Begin to read, at this moment. */
  begin(): Reading {
    if (!this.#chain.begun) this.#chain.begin(() => this.#makeFirst())
    if (!this.#heap.epochs.inside) this.#relieve()
    const stay = this.#heap.epochs.begin()
    return { stay, snapshot: this.#snapshots.begin(() => this.#now()) }
  }

  end({ stay, snapshot }: Reading): void {
    this.#snapshots.end(snapshot)
    this.#heap.epochs.end(stay)
  }

  /** A section found no memory: the next one begins with looking for some. */
  wantMemory(): void {
    this.#isShort = true
  }

  /** Open this participant's write set, for `capacity` objects. 0 if it has one open already. @throws HeapFullError */
  open(capacity: number): number {
    const { memory, intent, self } = this.#heap
    if (self.writeSet !== 0) return 0
    intent.begin(self.writeSetPlace, Reach.Cell)
    const { reference, state } = this.#heap.allocate(writeSetBytes(capacity))
    clearWriteSet(this.#heap, reference)
    self.noteWriteSet(state)
    intent.arm(0, 0, 0, 0, 0)
    memory.store(self.writeSetPlace, reference)
    intent.end()
    return reference
  }

  /** Commit the open write set: from one access on it is there for all who begin a section. */
  commit(set: number): void {
    const { memory, self } = this.#heap
    for (;;) {
      const last = this.#noted()
      memory.pokeFloat(offsetOf(set) + WriteSetOffset.Clock, this.words.clockOfSet(last) + 1)
      if (this.#chain.tryLinkNamed(last, set)) break
    }
    noteLinked(this.#heap, set)
    finish(this.words, set)
    self.clearWriteSet()
  }

  /** After a commit, when everything of it is done. */
  afterCommit(clock: number): void {
    if (clock % LOW_MARK === 0) this.collect(false)
  }

  /** Retire what no section can want any more. Not in the middle of an operation. `ask`: find out who is dead. */
  collect(ask: boolean): void {
    if (!this.#chain.begun) return
    const { epochs } = this.#heap
    epochs.enter()
    try {
      const watermark = this.#snapshots.watermark(this.#now(), ask)
      for (;;) {
        const dummy = this.#chain.dummy
        const first = nextOf(this.#heap, dummy)
        if (first === 0 || this.words.clockOfSet(first) > watermark) return
        finish(this.words, first)
        reclaim(this.words, first, watermark)
        this.#chain.tryUnlink(dummy, first)
      }
    } finally {
      epochs.exit()
    }
  }

  /** The clock: that of the last write set, which is noted before the clock is used. */
  #now(): number {
    return this.words.clockOfSet(this.#noted())
  }

  #noted(): number {
    const last = this.#chain.last()
    noteLinked(this.#heap, last)
    return last
  }

  /** What only those can do who are not in a section. */
  #relieve(): void {
    if (this.#isShort) {
      this.#isShort = false
      this.#heap.recover(true)
      this.#heap.collect()
    } else if (this.#length() >= HIGH_MARK) this.collect(true)
  }

  #length(): number {
    if (!this.#chain.begun) return 0
    this.#heap.epochs.enter()
    try {
      return this.#difference()
    } finally {
      this.#heap.epochs.exit()
    }
  }

  #difference(): number {
    return this.words.clockOfSet(this.#chain.last()) - this.words.clockOfSet(this.#chain.dummy)
  }

  /** The first dummy: of clock 0, with nothing in it. */
  #makeFirst(): number {
    const { reference } = this.#heap.allocate(writeSetBytes(0))
    clearWriteSet(this.#heap, reference)
    this.#heap.memory.poke(offsetOf(reference) + WriteSetOffset.Finished, 1)
    return reference
  }
}

import type { BlockPool } from '../heap/block-pool.ts'
import type { HomeHeap } from '../heap/home-heap.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import type { Readers } from '../rcu/group-rcu.ts'
import { Collector } from './collector.ts'
import { CommitClock } from './commit-clock.ts'
import { lockWord } from './layout.ts'
import { ObjectSlots } from './object-slots.ts'
import { Versions } from './versions.ts'

/** How many write sets this rank commits between two collections. */
const LOW_MARK = 32

/** Some objects at their home, as one rank uses them: all who open them there have the same. */
export class MvRluCore {
  readonly memory: HomeMemory
  readonly pool: BlockPool
  readonly readers: Readers
  readonly slots: ObjectSlots
  readonly clock: CommitClock
  readonly versions: Versions
  readonly collector: Collector
  #sections = 0
  #commits = 0
  #isShort = false

  constructor(heap: HomeHeap, memory: HomeMemory, body: number, tables: readonly number[], readers: Readers) {
    this.memory = memory
    this.pool = heap.pool
    this.readers = readers
    this.slots = new ObjectSlots(heap, memory, body, tables)
    this.clock = new CommitClock(memory, heap.pool, body)
    this.versions = new Versions(memory)
    this.collector = new Collector(memory, heap.pool, this.slots, this.clock, readers)
  }

  /** The lock word of another section. */
  nextLock(): bigint {
    this.#sections += 1
    return lockWord(this.memory.group.rank, this.#sections)
  }

  /** A section found no memory: the next one begins with looking for some. */
  wantMemory(): void {
    this.#isShort = true
  }

  /** What is done before a section. */
  async relieve(): Promise<void> {
    if (!this.#isShort) return
    this.#isShort = false
    await this.collectAll()
  }

  /** Cut off all that no section can need any more, and find the memory. */
  async collectAll(): Promise<void> {
    await this.collector.collect()
    await this.collector.collectAll()
    await this.pool.sweep()
  }

  /** After a commit. */
  async committed(): Promise<void> {
    this.#commits += 1
    if (this.#commits % LOW_MARK === 0) await this.collector.collect()
  }

  /**
   * For the home: a rank is out of the group, and cannot reach this memory any more. What it has locked is opened. What
   * it has replaced is cut off when no section needs it any more.
   */
  async settle(signal: AbortSignal): Promise<void> {
    await this.collector.settle(signal)
    await this.pool.sweep()
  }
}

import { takeCensus } from './census.ts'
import { BlockPool } from './heap/block-pool.ts'
import type { Census } from './heap/census.ts'
import { HomeWords } from './heap/home-memory.ts'
import { Names } from './heap/names.ts'
import type { GroupLogCore } from './log/log-core.ts'
import type { LogHeap } from './log/open-log.ts'
import { MapRecount } from './map/recount.ts'
import type { RemoteWords } from './memory/group-memory.ts'
import type { MvRluCore } from './mvrlu/core.ts'
import type { ObjectHeap } from './mvrlu/open-objects.ts'
import { MvRluRelief } from './mvrlu/relief.ts'
import type { Readers } from './rcu/group-rcu.ts'
import { Bells } from './waiting/bells.ts'

/** One home, as this rank uses it: its names, and the blocks that this rank has there. */
export class Home implements LogHeap, ObjectHeap {
  readonly rank: number
  readonly words: RemoteWords
  readonly pool: BlockPool
  readonly names: Names
  /** Logs and channels that are open here, by the place of their bodies. */
  readonly logs: Map<number, GroupLogCore> = new Map<number, GroupLogCore>()
  /** Objects of MV-RLU that are open here, in the same way. */
  readonly objects: Map<number, MvRluCore> = new Map<number, MvRluCore>()
  readonly #holds = new Set<() => Promise<void>>()
  readonly #bells: Bells

  /** `readers`: of all homes; without them no old versions are cut off for a rank that is short of memory. */
  constructor(words: RemoteWords, rank: number, bells: Bells = new Bells(), readers?: Readers) {
    this.rank = rank
    this.words = words
    this.#bells = bells
    const own = this.on('the directory of structures')
    const recount = new MapRecount(own)
    const relief = readers && new MvRluRelief(this, readers)
    const takeCensusHere = async (): Promise<Census> => {
      const census = await takeCensus(own)
      await recount.settle(census)
      return census
    }
    this.pool = new BlockPool(own, takeCensusHere, async (objects) => (await relief?.cut(objects)) === true)
    this.names = new Names(own, this.pool)
  }

  /** Its words, for a structure that errors name. */
  on(what: string): HomeWords {
    return new HomeWords(this.words, this.rank, what, this.#holds, this.#bells)
  }

  /** Let go of all that this rank holds there. */
  async letGo(): Promise<void> {
    await Promise.all([...this.#holds].map((release) => release()))
  }
}

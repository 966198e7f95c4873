import { takeCensus } from './census.ts'
import { BlockPool } from './heap/block-pool.ts'
import type { Census } from './heap/census.ts'
import { HomeMemory } from './heap/home-memory.ts'
import { Names } from './heap/names.ts'
import type { GroupLogCore } from './log/log-core.ts'
import type { LogHeap } from './log/open-log.ts'
import { MapRecount } from './map/recount.ts'
import type { GroupMemory } from './memory/group-memory.ts'
import type { MvRluCore } from './mvrlu/core.ts'
import type { ObjectHeap } from './mvrlu/open-objects.ts'
import { MvRluRelief } from './mvrlu/relief.ts'
import type { Readers } from './rcu/group-rcu.ts'
import { Bells } from './waiting/bells.ts'

/** One home, as this rank uses it: its names, and the blocks that this rank has there. */
export class HomeStructures implements LogHeap, ObjectHeap {
  readonly rank: number
  readonly group: GroupMemory
  readonly pool: BlockPool
  readonly names: Names
  /** Logs and channels that are open here, by the place of their bodies. */
  readonly logs: Map<number, GroupLogCore> = new Map<number, GroupLogCore>()
  /** Objects of MV-RLU that are open here, in the same way. */
  readonly objects: Map<number, MvRluCore> = new Map<number, MvRluCore>()
  readonly #holds = new Set<() => Promise<void>>()
  readonly #bells: Bells

  /** `readers`: of all homes; without them no old versions are cut off for a rank that is short of memory. */
  constructor(group: GroupMemory, rank: number, bells: Bells = new Bells(), readers?: Readers) {
    this.rank = rank
    this.group = group
    this.#bells = bells
    const memory = this.on('the directory of structures')
    const recount = new MapRecount(memory)
    const relief = readers && new MvRluRelief(this, readers)
    const takeCensusHere = async (): Promise<Census> => {
      const census = await takeCensus(memory)
      await recount.settle(census)
      return census
    }
    this.pool = new BlockPool(memory, takeCensusHere, async (objects) => (await relief?.cut(objects)) === true)
    this.names = new Names(memory, this.pool)
  }

  /** Its memory, for a structure that errors name. */
  on(what: string): HomeMemory {
    return new HomeMemory(this.group, this.rank, what, this.#holds, this.#bells)
  }

  /** Let go of all that this rank holds there. */
  async letGo(): Promise<void> {
    await Promise.all([...this.#holds].map((release) => release()))
  }
}

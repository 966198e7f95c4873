import type { GroupMemory } from '../memory/group-memory.ts'
import type { BlockPool } from './block-pool.ts'
import type { HomeMemory } from './home-memory.ts'
import type { Names } from './names.ts'

/** One home, as a structure that is kept there needs it. */
export interface HomeHeap {
  readonly rank: number
  readonly group: GroupMemory
  /** The blocks that this rank has there. */
  readonly pool: BlockPool
  readonly names: Names
  /** Its memory, for a structure that errors name. */
  on(what: string): HomeMemory
}

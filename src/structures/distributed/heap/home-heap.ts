import type { RemoteWords } from '../memory/group-memory.ts'
import type { BlockPool } from './block-pool.ts'
import type { HomeWords } from './home-memory.ts'
import type { Names } from './names.ts'

/** One home, as a structure that is kept there needs it. */
export interface HomeHeap {
  readonly rank: number
  readonly words: RemoteWords
  /** The blocks that this rank has there. */
  readonly pool: BlockPool
  readonly names: Names
  /** Its words, for a structure that errors name. */
  on(what: string): HomeWords
}

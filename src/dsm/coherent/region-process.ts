import type { AgentContext } from '../../runtime/index.ts'
import type { Mmu } from '../mmu/mmu.ts'
import type { PageWords } from '../mmu/page-words.ts'
import type { WindowTable } from '../mmu/window-table.ts'
import type { Frames } from './frames.ts'
import type { RegionPlan } from './region-plan.ts'

/**
 * What served regions have of the process that they are in. In an agent it is one of the operating system; in a
 * simulation, one of virtual time.
 */
export interface RegionProcess extends Pick<AgentContext, 'runtime' | 'exit'> {
  /** Monotonic nanoseconds now, where `runtime.now()` is as of the present turn. */
  clockNs(): number
  /** The frames of a region, given back in units of `unitBytes`. Their `close()` closes the memory object, too. */
  openFrames(plan: RegionPlan, unitBytes: number): Frames
  newMmu(windows: WindowTable, words: PageWords, pageBytes: number): Mmu
  /** How often a thread of this process has been on a processor. */
  threadTurns(thread: number): number
}

import { native } from '../../native/index.ts'
import type { AgentContext, Runtime } from '../../runtime/index.ts'
import type { Mmu } from '../mmu/mmu.ts'
import type { PageWords } from '../mmu/page-words.ts'
import { UserfaultMmu } from '../mmu/userfault-mmu.ts'
import type { WindowTable } from '../mmu/window-table.ts'
import type { Frames } from './frames.ts'
import { MappedFrames } from './mapped-frames.ts'
import { pageCount, type RegionPlan } from './region-plan.ts'
import type { RegionProcess } from './region-process.ts'

/** The process of an agent, as the operating system has it. */
export class AgentProcess implements RegionProcess {
  readonly #context: AgentContext
  /** The userfaultfd of this process; -1 if there is none. */
  readonly #userfault: number

  constructor(context: AgentContext, userfault: number) {
    this.#context = context
    this.#userfault = userfault
  }

  get runtime(): Runtime {
    return this.#context.runtime
  }

  clockNs(): number {
    return native.monotonicNs()
  }

  openFrames({ framesDescriptor, framePages, size, pageSize }: RegionPlan, unitBytes: number): Frames {
    const sizeBytes = pageCount(size, pageSize) * pageSize
    return new MappedFrames({ descriptor: framesDescriptor, isOwn: true, sizeBytes, unitBytes, pages: framePages })
  }

  newMmu(windows: WindowTable, words: PageWords, pageBytes: number): Mmu {
    const userfault = this.#userfault
    return userfault < 0 ? new ExplicitMmu() : new UserfaultMmu({ userfault, windows, words, pageBytes })
  }

  threadTurns(thread: number): number {
    return native.threadTurns(thread)
  }

  exit(code: number, message: string): never {
    this.#context.exit(code, message)
  }
}

/**
 * The mmu for hosts without userfaultfd, and for regions without views. Rights are the page words alone (see
 * page-words.ts), which the explicit calls check. There is no view that could be touched without the right.
 */
class ExplicitMmu implements Mmu {
  mapReadOnly(): void {}
  mapWritable(): void {}
  protect(): void {}
  unmap(): void {}
}

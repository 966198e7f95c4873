import type { Access } from './access.ts'
import type { SimulatedMmu } from './simulated-mmu.ts'
import { rightFor, SimulationThread, type ThreadHost } from './simulation-thread.ts'

export interface ViewHost extends ThreadHost {
  readonly mmu: SimulatedMmu
  /** Wake the agent. */
  ring(): void
}

/** A load or store that waits. */
export interface PageFault {
  readonly page: number
  readonly write: boolean
}

/** A thread that loads and stores through a view: what the mmu does not allow is a page fault. */
export class ViewThread extends SimulationThread {
  readonly #host: ViewHost
  #fault: PageFault | undefined
  #isRead = false

  constructor(host: ViewHost, accesses: readonly Access[], tag: number) {
    super(host, accesses, tag)
    this.#host = host
  }

  /** What it waits for. */
  get fault(): PageFault | undefined {
    return this.#fault
  }

  /** The agent reads the fault: once. */
  takeFault(): PageFault | undefined {
    if (this.#isRead) return undefined
    this.#isRead = true
    return this.#fault
  }

  /** Faults on the page are over. A thread that still lacks the right faults again. */
  wakeFrom(page: number): void {
    if (this.#fault?.page !== page) return
    this.#fault = undefined
    this.wake()
  }

  protected attempt(access: Access): void {
    if (this.#fault !== undefined) return
    if (this.#host.mmu.right(access.page) >= rightFor(access)) {
      this.make(access)
      return
    }
    this.#fault = { page: access.page, write: access.kind !== 'load' }
    this.#isRead = false
    this.#host.ring()
  }
}

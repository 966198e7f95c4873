import { FAULT_NUMBERS, FaultAnswer, FaultFlag, native } from '../../native/index.ts'
import type { PageWords } from '../mmu/page-words.ts'
import type { WindowTable } from '../mmu/window-table.ts'

/** Faults read in one go. */
const FAULTS_MAX = 64

/** A thread of this process has touched a page of a view without the right. */
export interface ReadFault {
  readonly address: number
  readonly write: boolean
  readonly thread: number
  readonly answer: (typeof FaultAnswer)[keyof typeof FaultAnswer]
  /** Whose fault it is, where it was answered. */
  readonly region: number
  /** How long the answer took. */
  readonly tookNs: number
}

/**
 * The faults of this process, read by the agent's thread. Faults with a known answer are answered where they are read
 * (native/fault-lane.cc), whether the agent is asleep or awake, and reported to it afterwards. An agent that slept must
 * be told of them before anything else happens to their pages.
 */
export class FaultLane {
  readonly #userfault: number
  readonly #numbers = new Float64Array(FAULT_NUMBERS * FAULTS_MAX)
  /** Read and not told yet. */
  #count = 0

  constructor(userfault: number) {
    this.#userfault = userfault
  }

  open(region: number, words: PageWords, windows: WindowTable, pageBytes: number): void {
    native.openFaultLane(region, words.array, windows.array, pageBytes)
  }

  close(region: number): void {
    native.closeFaultLane(region)
  }

  /** As `native.poll`, with the userfaultfd among the descriptors. */
  poll(descriptors: Int32Array, ready: Int32Array, count: number, timeoutMs: number): void {
    this.#count = native.pollAnswering(this.#userfault, descriptors, ready, count, timeoutMs, this.#numbers)
  }

  /** Read what waits now. */
  read(): void {
    this.#count = native.takeFaults(this.#userfault, this.#numbers)
  }

  /** Tell of what was read: first of the pages that were opened. False where nothing was. */
  tell(handle: (fault: ReadFault) => void): boolean {
    const count = this.#count
    this.#count = 0
    if (count === 0) return false
    const faults = Array.from({ length: count }, (_, index) => this.#fault(FAULT_NUMBERS * index))
    for (const fault of faults) if (fault.answer === FaultAnswer.Opened) handle(fault)
    for (const fault of faults) if (fault.answer !== FaultAnswer.Opened) handle(fault)
    return true
  }

  #fault(at: number): ReadFault {
    const numbers = this.#numbers
    return {
      address: numbers[at]!,
      write: (numbers[at + 1]! & (FaultFlag.Write | FaultFlag.WriteProtect)) !== 0,
      thread: numbers[at + 2]!,
      answer: numbers[at + 3] as ReadFault['answer'],
      region: numbers[at + 4]!,
      tookNs: numbers[at + 5]!,
    }
  }
}

import { type PageFailure, PageRight } from 'aether-dsm/internal/dsm'
import type { SimulatedHost, SimulatedProcess } from 'aether-dsm/internal/providers'
import type { Access, Observation } from './access.ts'

/** What a thread has of the process that it runs in. */
export interface ThreadHost {
  readonly host: SimulatedHost
  readonly nowNs: number
  /** Make the access now; what it saw and left. */
  access(access: Access, value: number): Observation
  /** Give pages up: done by the agent, when it comes to it. */
  giveUp(from: number, to: number): void
  /** Fence what the process has written. */
  fence(): void
  /** Why a page cannot be had; said by the agent, when it comes to it. */
  explainFailure(page: number, done: (failure: PageFailure | undefined) => void): void
}

/**
 * A thread of the program: accesses one after the other, waiting for the pages that it lacks. It runs beside the agent,
 * when it is its turn on the processor.
 */
export abstract class SimulationThread {
  readonly history: Observation[] = []
  /** How often it has been on a processor. */
  turns = 0
  protected readonly process: ThreadHost
  readonly #accesses: readonly Access[]
  /** Makes what it stores unlike everything else. */
  readonly #tag: number
  readonly #running: SimulatedProcess
  #position = 0
  #thinksUntilNs = 0
  #started = false
  #sealed = false

  constructor(process: ThreadHost, accesses: readonly Access[], tag: number) {
    this.process = process
    this.#accesses = accesses
    this.#tag = tag
    this.#running = process.host.spawn(() => this.#step())
  }

  get done(): boolean {
    return this.#sealed || this.#position === this.#accesses.length
  }

  /** The region is open. */
  start(): void {
    this.#started = true
    this.wake()
  }

  /** Its process is gone, or out of the group: its actions no longer count. */
  seal(): void {
    this.#sealed = true
  }

  /** Go on soon. */
  wake(): void {
    if (this.#started && !this.done) this.#running.wake()
  }

  /** Try the access. What ends the wait calls {@link wake}. */
  protected abstract attempt(access: Access): void

  protected wakeAt(ns: number): void {
    this.#running.wakeAt(ns)
  }

  /** Make the access at this moment. The next one follows after a while. */
  protected make(access: Access): void {
    this.history.push(this.process.access(access, this.#tag + this.#position))
    this.next(access)
  }

  /** Done with this access. */
  protected next({ thinkNs, givesUp, fences }: Access): void {
    this.#position += 1
    this.#thinksUntilNs = this.process.nowNs + thinkNs
    if (givesUp !== undefined) this.process.giveUp(givesUp.from, givesUp.to)
    if (fences) this.process.fence()
    this.wake()
  }

  #step(): void {
    const access = this.#accesses[this.#position]
    if (access === undefined || this.#sealed) return
    this.turns += 1
    if (this.process.nowNs < this.#thinksUntilNs) this.wakeAt(this.#thinksUntilNs)
    else this.attempt(access)
  }
}

/** The right to a page that an access needs. */
export function rightFor(access: Access): number {
  return access.kind === 'load' ? PageRight.Read : PageRight.Write
}

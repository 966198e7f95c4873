import { AsyncLocalStorage } from 'node:async_hooks'
import type { JournalStart } from 'aether-dsm/internal/consensus'
import type { SimulatedCluster, SimulatedHost, SimulatedProcess, Stream } from 'aether-dsm/internal/providers'
import type { SimulatedJournal } from './simulated-journal.ts'

const running: AsyncLocalStorage<SimulatedProgram> = new AsyncLocalStorage<SimulatedProgram>()

/** The program of which something runs now; undefined outside of simulations. */
export function programNow(): SimulatedProgram | undefined {
  return running.getStore()
}

/** An event loop on a simulated host: what is run there, and all that comes of it, has the host's time, and its end. */
export class SimulatedProgram {
  readonly cluster: SimulatedCluster
  readonly host: SimulatedHost
  /** Of what it draws by itself. */
  readonly draws: Stream
  /** Threads that write logs of it. */
  readonly journals: SimulatedJournal[] = []
  /** Starts such a thread. */
  startJournal: (start: JournalStart) => SimulatedJournal = () => {
    throw new Error('it has no disk')
  }
  readonly #process: SimulatedProcess
  readonly #onRan: () => void
  /** What comes by itself and from its own threads, and what comes from the agent of its group. */
  #queue: (() => void)[] = []
  #told: (() => void)[] = []
  #stalledUntilNs = 0

  /** `onRan`: something was run, and promises may have been kept. */
  constructor(cluster: SimulatedCluster, onRan: () => void) {
    this.cluster = cluster
    this.host = cluster.addHost()
    this.draws = cluster.kernel.stream(`program ${this.host.index}`)
    this.#onRan = onRan
    this.#process = this.host.spawn(() => this.#step())
  }

  get nowMs(): number {
    return this.cluster.nowNs / 1e6
  }

  get isLive(): boolean {
    return this.host.alive
  }

  /** Run it soon; not at all if its host has ended by then. */
  run(what: () => void): void {
    this.#queue.push(what)
    this.#process.wake()
  }

  /** The same of what its group's agent says: that comes in order, and before or after all else that waits. */
  tell(what: () => void): void {
    this.#told.push(what)
    this.#process.wake()
  }

  /** The same as {@link run} after some time. */
  after(ns: number, what: () => void): void {
    this.cluster.kernel.after(ns, () => this.run(what))
  }

  /** It resolves after some time. */
  delay(ns: number): Promise<void> {
    return new Promise((resolve) => this.after(ns, resolve))
  }

  /** Run it now, as a part of this program. */
  as<T>(what: () => T): T {
    return running.run(this, what)
  }

  /** Its event loop stands still for this time, and other threads of its process go on. */
  stall(ns: number): void {
    this.#stalledUntilNs = this.cluster.nowNs + ns
  }

  #step(): void {
    if (this.cluster.nowNs < this.#stalledUntilNs) {
      this.#process.wakeAt(this.#stalledUntilNs)
      return
    }
    const [queue, told] = [this.#queue, this.#told]
    this.#queue = []
    this.#told = []
    const isFirst = queue.length > 0 && told.length > 0 && this.draws.chance(0.5)
    this.#onRan()
    this.as(() => {
      for (const what of isFirst ? [...told, ...queue] : [...queue, ...told]) what()
    })
  }
}

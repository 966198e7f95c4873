import { AetherError } from 'aether-dsm/internal/native'
import { RedisServer } from '../peers/redis-server.ts'
import { ScratchDirectory } from '../scratch-directory.ts'
import type { Meeting, StoreName } from './bench-store.ts'
import { Crew } from './crew.ts'
import { estimateMs, planOf, type Round, type Step, type StructuresGrid } from './plan.ts'
import { rowsOf, type StructuresRow, withRatios, withShares } from './structures-row.ts'

export interface StructuresBenchOptions extends StructuresGrid {
  /** Called with each row as it is done, and with about how many milliseconds are left. */
  readonly onRow?: (row: StructuresRow, leftMs: number) => void
  /** Called with a store that is not here, and why; the others are measured all the same. */
  readonly onMissing?: (store: StoreName, why: string) => void
}

/** Structures of shared memory beside what is there otherwise, in one run. */
export async function benchStructures(options: StructuresBenchOptions): Promise<StructuresRow[]> {
  using scratch = new ScratchDirectory()
  const run = new Run(scratch.path, options)
  await using _server = await run.startServer()
  const rounds = planOf(options)
  for (const [at, round] of rounds.entries()) await run.measure(round, estimateMs(rounds.slice(at + 1)))
  return withShares(withRatios(run.rows))
}

let runs = 0

class Run {
  readonly rows: StructuresRow[] = []
  readonly #meeting: Meeting
  readonly #options: StructuresBenchOptions
  readonly #missing = new Set<StoreName>()

  constructor(directory: string, options: StructuresBenchOptions) {
    runs += 1
    this.#meeting = { space: `bench-structures-${process.pid}-${runs}`, directory }
    this.#options = options
  }

  async startServer(): Promise<RedisServer | undefined> {
    if (!this.#options.stores.includes('Redis')) return undefined
    return await this.#unlessMissing('Redis', () => RedisServer.start(this.#meeting.directory))
  }

  /** `laterMs`: how long it takes from then on. */
  async measure({ processes, stores, steps }: Round, laterMs: number): Promise<void> {
    const crews = new Map<StoreName, Crew>()
    try {
      for (const store of stores) {
        const crew = await this.#unlessMissing(store, () => Crew.start(store, processes, this.#meeting))
        if (crew !== undefined) crews.set(store, crew)
      }
      for (const [at, { store, job }] of steps.entries()) {
        const crew = crews.get(store)
        if (crew === undefined) continue
        if (isFirstOfItsSize(steps, at)) await this.#unlessMissing(store, () => crew.fill(job.bytes))
        const found = await this.#unlessMissing(store, () => crew.measure(job))
        if (found === undefined) continue
        const leftMs = laterMs + estimateMs([{ processes, stores: [], steps: steps.slice(at + 1) }])
        for (const row of rowsOf(store, job, found)) this.#add(row, leftMs)
      }
    } finally {
      await Promise.all([...crews.values()].map((crew) => crew[Symbol.asyncDispose]()))
    }
  }

  #add(row: StructuresRow, leftMs: number): void {
    this.rows.push(row)
    this.#options.onRow?.(row, leftMs)
  }

  /** Undefined where the store is not here, or fails; ours has to be there. */
  async #unlessMissing<T>(store: StoreName, work: () => Promise<T>): Promise<T | undefined> {
    if (this.#missing.has(store)) return undefined
    try {
      return await work()
    } catch (error) {
      if (store === 'aether' || !(error instanceof AetherError)) throw error
      this.#missing.add(store)
      this.#options.onMissing?.(store, error.message)
      return undefined
    }
  }
}

function isFirstOfItsSize(steps: readonly Step[], at: number): boolean {
  const { store, job } = steps[at]!
  return !steps.slice(0, at).some((step) => step.store === store && step.job.bytes === job.bytes)
}

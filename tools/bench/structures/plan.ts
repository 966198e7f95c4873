import { availableParallelism } from 'node:os'
import type { StoreName } from './bench-store.ts'
import { type Job, keysOf, type Work } from './job.ts'
import type { KeyChoice } from './key-sequence.ts'
import { warmProcessorMs } from './stopwatch.ts'

/** What is measured: each with each. */
export interface StructuresGrid {
  readonly stores: readonly StoreName[]
  readonly processes: readonly number[]
  /** Of values. */
  readonly bytes: readonly number[]
  readonly keys: readonly KeyChoice[]
  /** Sets among gets and sets, in a hundred. */
  readonly writes: readonly number[]
  /** How long each work of each cell is measured, in milliseconds. */
  readonly timeMs: number
}

/** One job for one store. */
export interface Step {
  readonly store: StoreName
  readonly job: Job
}

/**
 * A number of processes for each store. With each kind of work the stores are measured one after another, so that other
 * load on the machine affects all of them.
 */
export interface Round {
  readonly processes: number
  readonly stores: readonly StoreName[]
  readonly steps: readonly Step[]
}

/** How long it takes to start a process and to end it, and to put one value into a store; some more than that here. */
const PROCESS_MS = 250
const FILL_MS_PER_KEY = { aether: 0.002, Map: 0.001, Redis: 0.01, lmdb: 0.02 } as const

/** Who measures what. What a `Map` shares with other processes is nothing. */
export function planOf(grid: StructuresGrid): Round[] {
  return grid.processes.map((processes) => {
    const stores = grid.stores.filter((store) => processes === 1 || store !== 'Map')
    return { processes, stores, steps: grid.bytes.flatMap((bytes) => stepsOf(stores, grid, bytes)) }
  })
}

function stepsOf(stores: readonly StoreName[], grid: StructuresGrid, bytes: number): Step[] {
  return worksOf(grid, bytes).flatMap((work) =>
    stores.filter((store) => can(store, work)).map((store) => ({ store, job: { work, bytes, timeMs: grid.timeMs } })),
  )
}

/** A counter has one size only. */
function worksOf({ keys, writes, bytes: sizes }: StructuresGrid, bytes: number): Work[] {
  const works = keys.flatMap((choice): Work[] => [
    ...writes.map((percent): Work => ({ kind: 'get, set', keys: choice, writes: percent })),
    { kind: 'update', keys: choice },
  ])
  works.push({ kind: 'push, pop' })
  if (bytes === sizes[0]) works.push({ kind: 'add' })
  return works
}

function can(store: StoreName, { kind }: Work): boolean {
  if (kind === 'push, pop') return store === 'aether' || store === 'Redis'
  return kind !== 'add' || store !== 'lmdb'
}

/** About how long it takes, in milliseconds, on a machine that does nothing else. */
export function estimateMs(rounds: readonly Round[]): number {
  return rounds.map(roundMs).reduce((sum, ms) => sum + ms, 0)
}

function roundMs({ processes, stores, steps }: Round): number {
  const turns = Math.ceil(processes / availableParallelism())
  const sizes = [...new Set(steps.map(({ job }) => job.bytes))]
  const fillMs = (store: StoreName): number =>
    sizes.map((bytes) => keysOf(bytes) * FILL_MS_PER_KEY[store]).reduce((sum, ms) => sum + ms, 0)
  const startMs = stores.map((store) => turns * PROCESS_MS + fillMs(store)).reduce((sum, ms) => sum + ms, 0)
  return steps.map(({ job }) => job.timeMs + turns * warmProcessorMs(job.timeMs)).reduce((sum, ms) => sum + ms, startMs)
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AetherError } from '../../../native/index.ts'
import type { Meeting, StoreName } from './bench-store.ts'
import { Crew } from './crew.ts'
import type { Job, Work } from './job.ts'
import type { KeyChoice } from './key-sequence.ts'
import { RedisServer } from './redis-server.ts'
import { rowsOf, type StructuresRow, withRatios } from './structures-row.ts'

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

export interface StructuresBenchOptions extends StructuresGrid {
  /** Called with each row as it is done. */
  readonly onRow?: (row: StructuresRow) => void
  /** Called with a store that is not here, and why; the others are measured all the same. */
  readonly onMissing?: (store: StoreName, why: string) => void
}

/** What a `Map` shares with other processes is nothing. */
const stays = (store: StoreName): boolean => store === 'Map'

/** Structures of shared memory beside what is there otherwise, in one run. */
export async function benchStructures(options: StructuresBenchOptions): Promise<StructuresRow[]> {
  const rows: StructuresRow[] = []
  for (const store of options.stores) {
    try {
      await benchStore(store, options, (row) => {
        rows.push(row)
        options.onRow?.(row)
      })
    } catch (error) {
      // Ours has to be there.
      if (store === 'aether' || !(error instanceof AetherError)) throw error
      options.onMissing?.(store, error.message)
    }
  }
  return withRatios(rows)
}

let runs = 0

async function benchStore(store: StoreName, grid: StructuresGrid, onRow: (row: StructuresRow) => void): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'aether-bench-'))
  runs += 1
  const meeting: Meeting = { space: `bench-structures-${process.pid}-${runs}`, directory }
  const server = store === 'Redis' ? await startServer(directory) : undefined
  try {
    for (const processes of grid.processes.filter((count) => count === 1 || !stays(store)))
      await benchCrew(store, processes, meeting, grid, onRow)
  } finally {
    await server?.[Symbol.asyncDispose]()
    await rm(directory, { recursive: true, force: true })
  }
}

async function startServer(directory: string): Promise<RedisServer> {
  try {
    return await RedisServer.start(directory)
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
}

async function benchCrew(
  store: StoreName,
  processes: number,
  meeting: Meeting,
  grid: StructuresGrid,
  onRow: (row: StructuresRow) => void,
): Promise<void> {
  await using crew = await Crew.start(store, processes, meeting)
  for (const bytes of grid.bytes) {
    await crew.fill(bytes)
    for (const work of worksOf(store, grid, bytes)) {
      const job: Job = { work, bytes, timeMs: grid.timeMs }
      for (const row of rowsOf(store, job, await crew.measure(job))) onRow(row)
    }
  }
}

/** What a store can do; a counter has one size only. */
function worksOf(store: StoreName, { keys, writes, bytes: sizes }: StructuresGrid, bytes: number): Work[] {
  const works = keys.flatMap((choice): Work[] => [
    ...writes.map((percent): Work => ({ kind: 'get, set', keys: choice, writes: percent })),
    { kind: 'update', keys: choice },
  ])
  if (store === 'aether' || store === 'Redis') works.push({ kind: 'push, pop' })
  if (store !== 'lmdb' && bytes === sizes[0]) works.push({ kind: 'add' })
  return works
}

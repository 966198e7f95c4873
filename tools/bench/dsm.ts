import { fileURLToPath } from 'node:url'
import { CollectedLines, launch } from 'aether-dsm/internal/cluster'
import { coherenceKinds } from 'aether-dsm/internal/dsm'
import { AetherError } from 'aether-dsm/internal/native'
import { type DsmBenchPlan, type DsmRow, FLOORS, rowFrom, withRatios } from './dsm-row.ts'
import { measureStages } from './dsm-stages.ts'
import { type FloorExchange, PageFloor } from './floor/page-floor.ts'

export interface DsmBenchOptions {
  /** Kinds with a protocol; default all. */
  readonly coherence?: readonly string[]
  /** Numbers of processes; default 2 and 4. */
  readonly ranks?: readonly number[]
  /** Default 4 KiB and 64 KiB. */
  readonly pageBytes?: readonly number[]
  /** How often each access is measured; default 500. */
  readonly iterations?: number
  /** How long each cell of the grid is measured, in milliseconds; 0: no grid. Default 100. */
  readonly cellMs?: number
  /** How long agents look for work before they sleep, in milliseconds; undefined: as `join()` decides. */
  readonly spinMs?: number | undefined
  /** Also the stages of a page miss between two ranks, from a trace. */
  readonly stages?: boolean
  /** Called with each row as it is done. */
  readonly onRow?: (row: DsmRow) => void
  /** Called with the reason where the floor of a page miss cannot be measured. */
  readonly onNoFloor?: (reason: string) => void
}

export const defaultDsmRanks: readonly number[] = [2, 4]
export const defaultPageBytes: readonly number[] = [4096, 65_536]
export const DEFAULT_ITERATIONS = 500
export const DEFAULT_CELL_MS = 100
/** Kinds that have agents answer faults. */
export const protocolKinds: readonly string[] = coherenceKinds.filter((kind) => kind !== 'hardware')

/**
 * How long accesses to coherent memory take that need another process, and those that need none. Before each measured
 * one the agents sleep, as they do in a program that computes: what is measured includes waking them.
 */
export async function benchDsm(options: DsmBenchOptions = {}): Promise<DsmRow[]> {
  const { coherence = protocolKinds, pageBytes = defaultPageBytes, onRow } = options
  const { iterations = DEFAULT_ITERATIONS, cellMs = DEFAULT_CELL_MS, spinMs } = options
  const rows: DsmRow[] = []
  const keep = (row: DsmRow): void => {
    rows.push(row)
    onRow?.(row)
  }
  const plan: DsmBenchPlan = { coherence, pageBytes, iterations, cellMs, spinMs }
  const script = fileURLToPath(new URL('./dsm-rank.js', import.meta.url))
  using floor = newFloor(options.onNoFloor)
  for (const ranks of options.ranks ?? defaultDsmRanks) {
    const floors =
      floor === undefined
        ? []
        : pageBytes.flatMap((bytes) => floorExchanges.map((exchange) => [bytes, exchange] as const))
    for (const [bytes, exchange] of floors)
      keep(rowFrom({ ...FLOORS[exchange], ranks, pageBytes: bytes }, await floor!.measure(exchange, bytes, iterations)))
    const stdout = new CollectedLines((line) => keep(JSON.parse(line.slice(line.indexOf('{'))) as DsmRow))
    const complaints: string[] = []
    const stderr = new CollectedLines((line) => complaints.push(line))
    const { status } = await launch({ script, args: [JSON.stringify(plan)], ranks, stdout, stderr })
    if (status !== 0) throw new AetherError('ERR_AETHER_BENCH', `the ranks failed:\n${complaints.join('\n')}`)
  }
  if (options.stages === true) for (const row of await measureStages(plan)) keep(row)
  return withRatios(rows)
}

const floorExchanges: readonly FloorExchange[] = ['asleep', 'awake', 'turns']

/** Undefined where there is no compiler, say. */
function newFloor(onMissing: ((reason: string) => void) | undefined): PageFloor | undefined {
  try {
    return new PageFloor()
  } catch (error) {
    if (!(error instanceof AetherError)) throw error
    onMissing?.(error.message)
    return undefined
  }
}

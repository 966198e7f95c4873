import { peerNames } from '../peers/peer-name.ts'
import { type IndexRow, withIndexRatios } from './index-row.ts'
import { benchMemory } from './memory.ts'
import { benchMixed } from './mixed.ts'
import { benchOverload } from './overload.ts'
import { benchRecovery } from './recovery.ts'
import { benchReplicated } from './replicated.ts'
import { benchResp } from './resp.ts'
import { benchRestart } from './restart.ts'
import { DEFAULT_INDEX_TIME_MS, type IndexSection, indexSections, type SectionPlan } from './section.ts'
import { benchSingle } from './single.ts'

export interface IndexBenchOptions extends Partial<Omit<SectionPlan, 'keep'>> {
  /** Default all. */
  readonly sections?: readonly IndexSection[]
  /** Called with each row as it is done. */
  readonly onRow?: (row: IndexRow) => void
}

export const defaultIndexSizes: readonly number[] = [8, 100, 1024, 65_536]
export const defaultIndexClients: readonly number[] = [1, 2, 4]
export const DEFAULT_INDEX_KEYS = 100_000
export const DEFAULT_INDEX_KILLS = 5
export const DEFAULT_RESTART_BYTES: number = 2 ** 24

const benches: Readonly<Record<IndexSection, (plan: SectionPlan) => Promise<void>>> = {
  single: benchSingle,
  ycsb: benchMixed,
  replicated: benchReplicated,
  recovery: benchRecovery,
  restart: benchRestart,
  memory: benchMemory,
  resp: benchResp,
  overload: benchOverload,
}

/**
 * The index service: clients and nodes are processes of one machine, beside what does the like in the same run.
 *
 * - `single`: one operation after the other, by one client and several, of an index with one node.
 * - `ycsb`: the workloads A to F, by the same program for each store.
 * - `replicated`: writes with three nodes.
 * - `recovery`: leaders of three nodes are killed while a client writes.
 * - `restart`: nodes are killed and begin again with their files.
 * - `memory`: what a key takes.
 * - `resp`: clients of Redis.
 * - `overload`: writes come at up to four times the rate that the index can do.
 */
export async function benchIndex(options: IndexBenchOptions = {}): Promise<IndexRow[]> {
  const { sections = indexSections, onRow } = options
  const rows: IndexRow[] = []
  const plan: SectionPlan = {
    sizes: options.sizes ?? defaultIndexSizes,
    clients: options.clients ?? defaultIndexClients,
    timeMs: options.timeMs ?? DEFAULT_INDEX_TIME_MS,
    peers: options.peers ?? peerNames,
    keys: options.keys ?? DEFAULT_INDEX_KEYS,
    kills: options.kills ?? DEFAULT_INDEX_KILLS,
    restartBytes: options.restartBytes ?? DEFAULT_RESTART_BYTES,
    onMissing: options.onMissing,
    keep(row) {
      rows.push(row)
      onRow?.(row)
    },
  }
  for (const section of indexSections) if (sections.includes(section)) await benches[section](plan)
  return withIndexRatios(rows)
}

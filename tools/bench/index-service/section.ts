import type { OnMissing, PeerName } from '../peers/peer-name.ts'
import type { IndexRow } from './index-row.ts'

/** What is measured of the index. */
export const indexSections = [
  'single',
  'ycsb',
  'replicated',
  'recovery',
  'restart',
  'memory',
  'resp',
  'overload',
] as const
export type IndexSection = (typeof indexSections)[number]

/** For one measurement. */
export const DEFAULT_INDEX_TIME_MS = 500

/** What all sections are told. */
export interface SectionPlan {
  /** Of values. */
  readonly sizes: readonly number[]
  /** Numbers of client processes. */
  readonly clients: readonly number[]
  readonly timeMs: number
  readonly peers: readonly PeerName[]
  /** Keys for `memory`; `ycsb` has at most 10,000 records. */
  readonly keys: number
  /** Leaders that are killed. */
  readonly kills: number
  /** Values of a node that begins again. */
  readonly restartBytes: number
  readonly onMissing: OnMissing | undefined
  keep(row: IndexRow): void
}

import type { RegionGroup } from 'aether-dsm/internal/dsm'
import type { Axis } from './plan.ts'

/** What a litmus program sees: 64-bit words by number. Values are small whole numbers. */
export interface LitmusMemory {
  load(word: number): number
  store(word: number, value: number): void
  /** A batch is over: what this process stored has to be in the memory when this returns. */
  settle(): void
}

/** Opens the memory of an axis for this rank, the same at every rank. */
export type OpenMemory = (
  group: RegionGroup,
  axis: Axis,
  size: { bytes: number; pageSize: number },
) => Promise<LitmusMemory>

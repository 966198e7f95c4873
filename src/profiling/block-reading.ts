import type { BlockCopy } from './block-copy.ts'
import type { HistogramSummary } from './histogram-block.ts'

/** Describes the block of a reading. */
export interface BlockReading {
  /** The layout's name; `unknown-<id>` if neither this program nor the area knows it. */
  readonly name: string
  /** Which of several objects it counts: a method, a queue pair. Empty if there is only one. */
  readonly label: string
  /** What the label is: `method`, `queuePair`. Empty if there are no labels. */
  readonly labelled: string
  /** If the counters are one figure: what their names tell apart (`code`). Otherwise empty. */
  readonly spread: string
  /** True for the sum over all objects of the layout that have ended or found no place. */
  readonly rest: boolean
  /** Thread id of the writer; -1 in a merged profile. */
  readonly thread: number
}

/** Counters of one block by name. */
export interface CounterReading extends BlockReading {
  /** The values that go up and down. */
  readonly gauges: readonly string[]
  readonly values: Readonly<Record<string, number>>
}

/** One histogram. */
export interface HistogramReading extends BlockReading, HistogramSummary {
  /** The slots, as in {@link HistogramBlock.slots}. */
  readonly slots: Float64Array
}

export function readingOf({ names, label, rest, thread }: BlockCopy): BlockReading {
  return { name: names.name, label, labelled: names.labelled, spread: names.spread, rest, thread }
}

export function valuesOf({ names, slots }: BlockCopy): Record<string, number> {
  return Object.fromEntries([...slots].map((value, slot) => [names.counters[slot] ?? `slot${slot}`, value]))
}

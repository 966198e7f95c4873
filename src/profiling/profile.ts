import { BlockKind, readHeader, SHEET_BYTES, slotsAt } from './block-header.ts'
import { findLayout } from './counter-layout.ts'
import { differenceOfHistograms, type HistogramSummary, summarize } from './histogram-block.ts'
import { PROFILING_AREA_BYTES } from './profiling-area.ts'

/** A copy of one block. */
interface BlockCopy {
  readonly kind: number
  readonly layout: number
  readonly thread: number
  readonly slots: Float64Array
}

/** Counters of one block by name. */
export interface CounterReading {
  /** The layout's name; `unknown-<id>` for one that this program has not declared. */
  readonly name: string
  /** Thread id of the writer. */
  readonly thread: number
  readonly values: Readonly<Record<string, number>>
}

/** One histogram. */
export interface HistogramReading extends HistogramSummary {
  readonly name: string
  readonly thread: number
}

/**
 * A snapshot of a profiling area, of this or another process. Blocks of one snapshot are read one after the other while their writers go on,
 * so figures of different blocks may be a few operations apart.
 */
export class Profile {
  readonly #blocks: ReadonlyMap<number, BlockCopy>

  private constructor(blocks: ReadonlyMap<number, BlockCopy>) {
    this.#blocks = blocks
  }

  /** Copy all blocks of the area. What stands there is checked: garbage is skipped. */
  static read(buffer: ArrayBufferLike, offsetBytes: number = 0, lengthBytes: number = PROFILING_AREA_BYTES): Profile {
    const sheets = Math.floor(lengthBytes / SHEET_BYTES)
    const blocks = new Map<number, BlockCopy>()
    for (let sheet = 1; sheet < sheets; ) {
      const at = offsetBytes + sheet * SHEET_BYTES
      const header = readHeader(buffer, at, sheets - sheet)
      if (header !== undefined) blocks.set(sheet, { ...header, slots: slotsAt(buffer, at, header.slots).slice() })
      sheet += Math.max(1, header?.sheets ?? 1)
    }
    return new Profile(blocks)
  }

  /** What happened since `earlier`, a snapshot of the same area. Blocks that are new count from zero. */
  since(earlier: Profile): Profile {
    const blocks = new Map<number, BlockCopy>()
    for (const [sheet, block] of this.#blocks) {
      const before = earlier.#blocks.get(sheet)
      const same = before !== undefined && before.kind === block.kind && before.layout === block.layout
      blocks.set(sheet, same ? { ...block, slots: difference(block, before) } : block)
    }
    return new Profile(blocks)
  }

  counters(): readonly CounterReading[] {
    return this.#of(BlockKind.Counters).map((block) => ({
      name: nameOf(block.layout),
      thread: block.thread,
      values: valuesOf(block),
    }))
  }

  histograms(): readonly HistogramReading[] {
    return this.#of(BlockKind.Histogram).map((block) => ({
      name: nameOf(block.layout),
      thread: block.thread,
      ...summarize(block.slots),
    }))
  }

  /** Sum of counter `counter` over all blocks of layout `layout`, 0 where there is none. */
  total(layout: string, counter: string): number {
    const readings = this.counters().filter((reading) => reading.name === layout)
    return readings.reduce((sum, reading) => sum + (reading.values[counter] ?? 0), 0)
  }

  #of(kind: number): readonly BlockCopy[] {
    return [...this.#blocks.values()].filter((block) => block.kind === kind)
  }
}

function difference(later: BlockCopy, earlier: BlockCopy): Float64Array {
  if (later.kind === BlockKind.Histogram) return differenceOfHistograms(later.slots, earlier.slots)
  return later.slots.map((value, slot) => value - (earlier.slots[slot] ?? 0))
}

function nameOf(layout: number): string {
  return findLayout(layout)?.name ?? `unknown-${layout}`
}

function valuesOf(block: BlockCopy): Record<string, number> {
  const names = findLayout(block.layout)?.counters ?? []
  return Object.fromEntries([...block.slots].map((value, slot) => [names[slot] ?? `slot${slot}`, value]))
}

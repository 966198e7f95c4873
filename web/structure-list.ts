import type { StructureFrame, StructureMemoryFrame, StructuresFrame } from '../src/dashboard/wire.ts'
import { TimeSeries } from './time-series.ts'

/** Looks over which calls are averaged for the order of the rows, so that rows do not change places all the time. */
const ORDER_LOOKS = 50

/** A structure, and its calls per second over time. */
export interface KnownStructure {
  readonly key: string
  readonly frame: StructureFrame
  readonly calls: TimeSeries
}

/** The structures that the page knows. */
export class StructureList {
  readonly #known = new Map<string, KnownStructure>()
  /** Grows with every change. */
  stamp = 0
  memory: readonly StructureMemoryFrame[] = []
  /** False for recordings that have no structures, because an earlier version made them. */
  isKnown = false

  take({ isWhole, structures, gone = [], memory }: StructuresFrame, look: number): void {
    this.isKnown = true
    this.stamp += 1
    this.memory = memory
    const before = new Map(this.#known)
    if (isWhole) this.#known.clear()
    for (const frame of structures) {
      const key = keyOf(frame.region, frame.name)
      const calls = before.get(key)?.calls ?? new TimeSeries(look - 1, Number.NaN)
      calls.set(look, frame.reads + frame.writes)
      this.#known.set(key, { key, frame, calls })
    }
    for (const [region, name] of gone) this.#known.delete(keyOf(region, name))
  }

  get(key: string | undefined): KnownStructure | undefined {
    return key === undefined ? undefined : this.#known.get(key)
  }

  /** The busiest first. */
  busiest(look: number): readonly KnownStructure[] {
    const mean = new Map([...this.#known.values()].map((each) => [each, meanOf(each, look)]))
    return [...mean.keys()].sort((a, b) => mean.get(b)! - mean.get(a)! || (a.frame.name < b.frame.name ? -1 : 1))
  }

  clear(): void {
    this.#known.clear()
    this.memory = []
    this.isKnown = false
    this.stamp += 1
  }
}

function meanOf({ calls }: KnownStructure, look: number): number {
  const values = calls.values(look, ORDER_LOOKS).filter((value) => value !== null)
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}

function keyOf(region: string, name: string): string {
  return JSON.stringify([region, name])
}

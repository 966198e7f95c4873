import type { MachineFrame, MachinesFrame } from '../src/dashboard/wire.ts'
import { TimeSeries } from './time-series.ts'

/** A member's replica of a machine, and its entries per second over time. */
export interface KnownReplica {
  readonly key: string
  readonly frame: MachineFrame
  readonly rates: TimeSeries
}

/** The replicas that the page knows, by machine and member. */
export class MachineList {
  #known = new Map<string, KnownReplica>()
  /** Grows with every change. */
  stamp = 0
  /** False for recordings that have no machines, because an earlier version made them. */
  isKnown = false

  get replicas(): readonly KnownReplica[] {
    return [...this.#known.values()]
  }

  take({ machines }: MachinesFrame, look: number): void {
    const before = this.#known
    this.isKnown = true
    this.stamp += 1
    this.#known = new Map(
      machines.map((frame) => {
        const key = JSON.stringify([frame.name, frame.number])
        const rates = before.get(key)?.rates ?? new TimeSeries(look - 1, Number.NaN)
        rates.set(look, frame.rate)
        return [key, { key, frame, rates }]
      }),
    )
  }

  clear(): void {
    this.#known.clear()
    this.isKnown = false
    this.stamp += 1
  }
}

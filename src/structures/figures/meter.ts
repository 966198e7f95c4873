import { type CounterBlock, type ProfilingArea, privateCounters } from '../../profiling/index.ts'
import type { StructureKindName } from '../heap/structure-kind.ts'
import { DEFAULT_REGION, type StructureCounter, structureCounters, structureLabel } from './structure-counters.ts'

const READS = structureCounters.counters.indexOf('reads')
const WRITES = structureCounters.counters.indexOf('writes')

/** Counts what this member does with one structure. */
export class Meter {
  readonly #block: CounterBlock<StructureCounter>
  #waiting = 0

  constructor(block: CounterBlock<StructureCounter>) {
    this.#block = block
  }

  /** A call that only looks. */
  read(): void {
    const { slots } = this.#block
    slots[READS] = slots[READS]! + 1
  }

  /** A call that may change something. */
  wrote(): void {
    const { slots } = this.#block
    slots[WRITES] = slots[WRITES]! + 1
  }

  evicted(entries: number): void {
    this.#block.add('evictions', entries)
  }

  expired(entries: number): void {
    this.#block.add('expirations', entries)
  }

  /** A call waits until the returned object is disposed of. If this process is killed, its figures go with it. */
  waits(): Disposable {
    this.#setWaiting(1)
    return { [Symbol.dispose]: () => this.#setWaiting(-1) }
  }

  close(): void {
    this.#block.close()
  }

  #setWaiting(change: number): void {
    this.#waiting += change
    this.#block.set('waiting', this.#waiting)
  }
}

/** The meters of the structures of one region, as one member uses them. */
export class Meters {
  readonly #area: ProfilingArea | undefined
  readonly #region: string
  readonly #meters = new Map<string, Meter>()

  /** Without an area, it counts in private memory. */
  constructor(area?: ProfilingArea, region: string = DEFAULT_REGION) {
    this.#area = area
    this.#region = region
  }

  /** The meter of a structure: one for each, however often it is opened. */
  of(kind: StructureKindName, name: string): Meter {
    const label = structureLabel(this.#region, kind, name)
    const known = this.#meters.get(label)
    if (known !== undefined) return known
    const block = this.#area?.counters(structureCounters, label) ?? privateCounters(structureCounters)
    const meter = new Meter(block)
    this.#meters.set(label, meter)
    return meter
  }

  /** The counts go to those of structures that are not open any more. */
  close(): void {
    for (const meter of this.#meters.values()) meter.close()
    this.#meters.clear()
  }
}

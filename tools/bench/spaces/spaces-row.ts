import { distributionOf, joined, quantileOf, tenths } from '../quantiles.ts'
import type { PlaceName } from './kept-store.ts'
import type { Turn } from './turn.ts'

/** One line of `aether bench spaces`, and one object of its `--json`. Nanoseconds are per operation. */
export interface SpacesRow {
  readonly op: string
  /** `aether`, or other software with its version. */
  readonly store: string
  readonly place: PlaceName
  /** Of a value; of the whole store where it is opened. */
  readonly bytes: number
  /** Operations that were timed singly. */
  readonly samples: number
  /** Of operations between which the clock is seldom read, with all that interrupted them. */
  readonly meanNs: number
  readonly p50Ns: number
  readonly p99Ns: number
  readonly maxNs: number
  /** The distribution at `quantileShares`. */
  readonly quantilesNs: readonly number[]
  /** What the store made the kernel write to the disk meanwhile; null where the kernel does not tell. */
  readonly writtenBytes: number | null
  /** The row, as `op, store, place`, that this one is held against; null for that one itself. */
  readonly baseline: string | null
  /** Its time over that one's in the same round, the median of all rounds; of `open`, the median over that one's. */
  readonly ratio: number | null
}

type Named = Pick<SpacesRow, 'op' | 'store' | 'place' | 'bytes'>

/** All turns of one operation of one store. */
export class Series {
  readonly #named: Named
  readonly #baseline: string | null
  readonly #ratios: number[] = []
  readonly #samples: Float64Array[] = []
  #operations = 0
  #totalNs = 0
  #writtenBytes = 0

  /** `baseline` names the row that it takes turns with. */
  constructor(named: Named, baseline: string | null) {
    this.#named = named
    this.#baseline = baseline
  }

  /** `beside` is the turn of the baseline in the same round. */
  add(turn: Turn, beside: Turn, writtenBytes: number): void {
    this.#ratios.push(turn.typicalNs / beside.typicalNs)
    this.#samples.push(turn.samplesNs)
    this.#operations += turn.operations
    this.#totalNs += turn.totalNs
    this.#writtenBytes += writtenBytes
  }

  get row(): SpacesRow {
    const samples = joined(this.#samples)
    return {
      ...this.#named,
      samples: samples.length,
      meanNs: tenths(this.#totalNs / this.#operations),
      ...distributionOf(samples),
      writtenBytes: Number.isFinite(this.#writtenBytes) ? this.#writtenBytes : null,
      baseline: this.#baseline,
      ratio: this.#baseline === null ? null : rounded(quantileOf(Float64Array.from(this.#ratios).sort(), 0.5)),
    }
  }
}

/** A row of a store that was opened once for each of these times. */
export function openRow(named: Named, ns: readonly number[]): SpacesRow {
  const samples = Float64Array.from(ns)
  const meanNs = tenths(ns.reduce((sum, each) => sum + each, 0) / ns.length)
  const rest = { writtenBytes: null, baseline: null, ratio: null }
  return { ...named, samples: ns.length, meanNs, ...distributionOf(samples), ...rest }
}

/** The row, held against another one of the same work by their medians. */
export function heldAgainst(row: SpacesRow, base: SpacesRow): SpacesRow {
  const baseline = `${base.op}, ${base.store}, ${base.place}`
  return { ...row, baseline, ratio: rounded(row.p50Ns / base.p50Ns) }
}

function rounded(ratio: number): number {
  return Number(ratio.toPrecision(4))
}

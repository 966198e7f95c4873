import { adviceOnPage } from '../dsm/index.ts'
import type { RegionSight } from './region-sight.ts'
import type { PageAdviceFrame } from './wire.ts'

/** The maximum number of ranges reported for one rank. */
const RANGES_MAX = 256

/** Why a page bounces, from what the ranks of this machine saw; undefined if it does not, or the adviser is off. */
export function describeAdvice({ at, facts }: RegionSight, page: number): PageAdviceFrame | undefined {
  const shown = [...at].map(([rank, { journal, region }]) => [rank, journal.advice(region)] as const)
  const advice = adviceOnPage({ name: facts.name, size: facts.size, pageSize: facts.pageBytes }, page, shown)
  if (advice === undefined) return undefined
  const { kind, moves, finding, remedy, lengthBytes, readers, writers } = advice
  const told = writers.map(({ rank, ranges }) => ({
    rank,
    ranges: ranges.slice(0, RANGES_MAX).map(({ begin, end }) => [begin, end] as const),
  }))
  return { kind, moves, finding, remedy, lengthBytes, readers, writers: told }
}

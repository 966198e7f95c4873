import { native } from '../../../native/index.ts'

/** The clock by which locks, limits and deduplication keys end: changing the time of day does not change it. */
export function monotonicMs(): number {
  return native.monotonicNs() / 1e6
}

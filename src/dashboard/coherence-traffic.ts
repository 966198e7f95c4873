import {
  countOf,
  type JournalOperations,
  messageKindName,
  OPERATIONS_MAX,
  WAIT_PARTS,
  waitPartBegin,
  waitsOf,
} from '../dsm/index.ts'
import type { Traffic } from './traffic.ts'

/** A rank's counters by operation, now and at the start of an interval; `before` is undefined if there were none. */
export interface RankCounts {
  readonly rank: number
  readonly now: JournalOperations
  readonly before: JournalOperations | undefined
}

/**
 * Adds what `rank` has sent to `peer`, by kind of message. To the link in the other direction it adds how long threads
 * of `rank` waited for pages from `peer`.
 */
export function addCoherence(traffic: Traffic, { rank, now, before }: RankCounts, peer: number): void {
  for (let kind = 0; kind < OPERATIONS_MAX; kind += 1) {
    const [count, bytes] = countOf(now, peer, kind)
    if (count === 0) continue
    const [hadCount, hadBytes] = before === undefined ? [0, 0] : countOf(before, peer, kind)
    if (count > hadCount)
      traffic.add(
        rank,
        peer,
        'coherence',
        kind === 0 ? 'page' : messageKindName(kind),
        count - hadCount,
        bytes - hadBytes,
      )
  }
  for (const write of [false, true]) {
    const waits = waitsOf(now, peer, write)
    const had = before === undefined ? undefined : waitsOf(before, peer, write)
    for (let part = 0; part < WAIT_PARTS; part += 1) {
      const count = (waits[part] ?? 0) - (had?.[part] ?? 0)
      if (count <= 0) continue
      const { times } = traffic.add(peer, rank, 'coherence', write ? 'wait to write' : 'wait to read', count, 0)
      times.add((waitPartBegin(part) + waitPartBegin(part + 1)) / 2, count)
    }
  }
}

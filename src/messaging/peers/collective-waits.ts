import type { KeyedWait, WaitDescription } from '../../profiling/index.ts'
import type { CollectiveRun } from './collective-run.ts'
import type { GroupEngine } from './group-engine.ts'

/** More are counted, not told. */
const RANKS_TOLD = 8

/**
 * Describe what a collective of a group waits for. Its ranks are those of this group, unknown elsewhere, so they appear
 * only in the text.
 */
export function describeCollective({ peers, rank }: GroupEngine, run: CollectiveRun): WaitDescription {
  const object = `${run.plan.call} of the group of peers ${listed(peers.map(String))} at its rank ${rank}`
  return { kind: 'collective', object, state: whomItWaitsFor(run), ranks: [], processes: [] }
}

/** In words; empty if it waits for no rank. */
export function whomItWaitsFor(run: CollectiveRun): string {
  const part = (ranks: readonly number[], what: string): string[] =>
    ranks.length === 0 ? [] : [`${ranksOf(ranks)} ${what}`]
  const parts = [
    ...part(run.awaited(), 'has yet to send its part'),
    ...part(run.unsent(), 'has yet to take what it is sent'),
  ]
  return parts.join('; ')
}

/** For the watchdog: the oldest collective of each group, for which all others wait. */
export function* collectiveWaits(groups: Iterable<GroupEngine>): Iterable<KeyedWait> {
  for (const group of groups) {
    const { oldest } = group
    if (oldest === undefined) continue
    const key = `collective ${group.group} ${group.rank} ${oldest.sequence}`
    yield { ...describeCollective(group, oldest), sinceNs: Number.POSITIVE_INFINITY, key }
  }
}

function ranksOf(ranks: readonly number[]): string {
  return ranks.length === 1 ? `rank ${ranks[0]}` : `each of ranks ${listed(ranks.map(String))}`
}

function listed(words: readonly string[]): string {
  const told = words.slice(0, RANKS_TOLD)
  return words.length > told.length ? `${told.join(', ')} and ${words.length - told.length} more` : told.join(', ')
}

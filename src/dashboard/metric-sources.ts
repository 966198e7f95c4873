import { type ObservedMember, SpaceObserver } from '../cluster/index.ts'
import type { MetricSource } from '../profiling/index.ts'

/**
 * Snapshots of the counters of each member of a space, labelled `space` and `rank`, or `member` (its slot) if it is not
 * in a group. A successor with the same number continues the series from 0, which Prometheus treats as a restart.
 * @throws SpaceError if the space has no member.
 */
export function metricSources(space: string): readonly MetricSource[] {
  const observer = SpaceObserver.attach(space)
  try {
    return observer
      .members()
      .map((member) => ({ profile: observer.profile(member), labels: { space, ...numberOf(member) } }))
  } finally {
    observer.close()
  }
}

function numberOf({ group, slot }: ObservedMember): Readonly<Record<string, string>> {
  return group === undefined ? { member: String(slot) } : { rank: String(group.rank) }
}

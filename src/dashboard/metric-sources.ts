import { type ObservedMember, SpaceObserver } from '../cluster/index.ts'
import type { MetricSource } from '../profiling/index.ts'

/**
 * Snapshots of what each member of a space has counted, labelled `space` and `rank`, or `member` (its slot) where it is
 * in no group. A successor of the same number goes on in the same series from 0, which Prometheus knows for a restart.
 * @throws SpaceError where nobody is in such a space.
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

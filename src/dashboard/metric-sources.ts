import { type ObservedMember, SpaceObserver } from '../cluster/index.ts'
import type { MetricSource } from '../profiling/index.ts'
import { ObservedStructures } from './structures/observed-structures.ts'
import { structureSource } from './structures/structure-metrics.ts'

/**
 * Snapshots of the counters of each member of a space, labelled `space` and `rank`, or `member` (its slot) if it is not
 * in a group. A successor with the same number continues the series from 0, which Prometheus treats as a restart. The
 * last source has what is in the structures of the space.
 * @throws SpaceError if the space has no member.
 */
export function metricSources(space: string): readonly MetricSource[] {
  const observer = SpaceObserver.attach(space)
  try {
    const members = observer.members().map((member) => ({ member, profile: observer.profile(member) }))
    using structures = new ObservedStructures(observer)
    const seen = structures.next(
      members.map(({ member, profile }) => ({ ...member, rank: member.group?.rank ?? null, profile })),
      0,
    )
    const sources = members.map(({ member, profile }) => ({ profile, labels: { space, ...numberOf(member) } }))
    return seen.memory.length === 0 ? sources : [...sources, structureSource(space, seen)]
  } finally {
    observer.close()
  }
}

function numberOf({ group, slot }: ObservedMember): Readonly<Record<string, string>> {
  return group === undefined ? { member: String(slot) } : { rank: String(group.rank) }
}

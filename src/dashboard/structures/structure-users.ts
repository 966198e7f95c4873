import type { Member } from '../../cluster/index.ts'
import type { Profile } from '../../profiling/index.ts'
import { structureCounters } from '../../structures/index.ts'

/** A member, with its counters at a look. */
export interface StructureMember extends Member {
  readonly rank: number | null
  readonly profile: Profile
}

/** What members count of one structure. */
export interface StructureCounts {
  readonly reads: number
  readonly writes: number
  readonly evictions: number
  readonly expirations: number
  readonly waiting: number
}

/** What one member counts of one structure. */
export interface StructureUse extends StructureCounts {
  readonly member: StructureMember
}

export const NO_COUNTS: StructureCounts = { reads: 0, writes: 0, evictions: 0, expirations: 0, waiting: 0 }

/** What each member counts, by the label of the structure. */
export class StructureUsers {
  readonly #uses = new Map<string, StructureUse[]>()

  constructor(members: readonly StructureMember[]) {
    for (const member of members)
      for (const { name, label, rest, values } of member.profile.counters()) {
        if (name !== structureCounters.name || rest) continue
        const counts = Object.fromEntries(structureCounters.counters.map((each) => [each, values[each] ?? 0]))
        const uses = this.#uses.get(label) ?? []
        uses.push({ ...(counts as unknown as StructureCounts), member })
        this.#uses.set(label, uses)
      }
  }

  of(label: string): readonly StructureUse[] {
    return this.#uses.get(label) ?? []
  }

  /** All members together. */
  sum(label: string): StructureCounts {
    return this.of(label).reduce<StructureCounts>(
      (sum, use) => ({
        reads: sum.reads + use.reads,
        writes: sum.writes + use.writes,
        evictions: sum.evictions + use.evictions,
        expirations: sum.expirations + use.expirations,
        waiting: sum.waiting + use.waiting,
      }),
      NO_COUNTS,
    )
  }

  /** Calls since `earlier`, of members that are still there. A member that opened the structure since counts from 0. */
  since(label: string, earlier: StructureUsers): Pick<StructureCounts, 'reads' | 'writes'> {
    const before = new Map(earlier.of(label).map((use) => [use.member.epoch, use]))
    let [reads, writes] = [0, 0]
    for (const use of this.of(label)) {
      const had = before.get(use.member.epoch)
      reads += grown(use.reads, had?.reads)
      writes += grown(use.writes, had?.writes)
    }
    return { reads, writes }
  }
}

/** What was closed and opened again counts from 0. */
function grown(now: number, before: number = 0): number {
  return now >= before ? now - before : now
}

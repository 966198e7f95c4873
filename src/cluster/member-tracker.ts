import type { Arena } from './arena.ts'
import type { EpochArchive } from './epoch-archive.ts'
import { EPOCH_ENTRIES, MEMBERS_MAX } from './layout.ts'
import { type Fate, type Member, type MemberTable, type SlotGlance, SlotState } from './member-table.ts'

/** What changed between two looks at the table. */
export type MemberChange =
  | { readonly type: 'joined'; readonly member: Member }
  | { readonly type: 'left' | 'died'; readonly member: Member; readonly held: Int32Array }

const NOTHING_HELD = new Int32Array(0)

/**
 * Derives changes by comparing the table of members as it was with the table as it is. There is no log that could be half written;
 * members that came and went between two looks are found in the archive.
 */
export class MemberTracker {
  readonly #arena: Arena
  readonly #table: MemberTable
  readonly #archive: EpochArchive
  readonly #known = new Map<number, Member>()
  /** Epochs given out whose member was not there yet. */
  #awaited = new Set<number>()
  #lastEpoch = 0

  /** Begins with those who are there now: they are no changes. */
  constructor(arena: Arena, table: MemberTable, archive: EpochArchive) {
    this.#arena = arena
    this.#table = table
    this.#archive = archive
    this.#lastEpoch = arena.lastEpoch
    this.#noteClaims()
    for (const { slot, epoch, processId } of table.present()) this.#known.set(epoch, { slot, epoch, processId })
  }

  /** What changed since the last look: ends of known members first, then later ones in the order in which they joined. */
  advance(): readonly MemberChange[] {
    const last = this.#arena.lastEpoch
    const glances = this.#glances()
    return [...this.#endsOfKnown(glances), ...this.#newcomers(last, glances)]
  }

  #glances(): ReadonlyMap<number, SlotGlance & { readonly slot: number }> {
    const glances = new Map<number, SlotGlance & { readonly slot: number }>()
    for (let slot = 0; slot < MEMBERS_MAX; slot += 1) {
      const glance = this.#table.glance(slot)
      if (glance.epoch > 0) glances.set(glance.epoch, { ...glance, slot })
    }
    return glances
  }

  #noteClaims(): void {
    for (const [epoch, { state }] of this.#glances()) if (state === SlotState.Claimed) this.#awaited.add(epoch)
  }

  #endsOfKnown(glances: ReadonlyMap<number, SlotGlance>): MemberChange[] {
    const changes: MemberChange[] = []
    for (const [epoch, member] of [...this.#known].sort(([a], [b]) => a - b)) {
      const glance = glances.get(epoch)
      if (glance?.state === SlotState.Present) continue
      this.#known.delete(epoch)
      // Not even in the archive: thousands have joined since. That it ended is certain; how is not, so the worse is told.
      const fate = glance?.fate ?? this.#archive.read(epoch)?.fate ?? 'died'
      changes.push(this.#ended(member, fate))
    }
    return changes
  }

  #newcomers(last: number, glances: ReadonlyMap<number, SlotGlance & { readonly slot: number }>): MemberChange[] {
    const changes: MemberChange[] = []
    const awaited = new Set<number>()
    for (const epoch of this.#candidates(last)) {
      const found = glances.get(epoch) ?? this.#archive.read(epoch)
      if (found?.fate === undefined) {
        const member = found === undefined ? undefined : this.#meet(found.slot, epoch)
        if (member !== undefined) changes.push({ type: 'joined', member })
        else if (epoch > last - EPOCH_ENTRIES) awaited.add(epoch)
      } else if (found.fate !== 'aborted') {
        const processId = 'processId' in found ? found.processId : this.#table.processIdOf(found.slot)
        const member = { slot: found.slot, epoch, processId }
        changes.push({ type: 'joined', member }, this.#ended(member, found.fate))
      }
    }
    this.#awaited = awaited
    this.#lastEpoch = last
    return changes
  }

  /** Epochs to look for, ascending; no more than the archive remembers. */
  #candidates(last: number): readonly number[] {
    const fresh = Math.max(this.#lastEpoch, last - EPOCH_ENTRIES)
    const epochs = Array.from({ length: last - fresh }, (_, index) => fresh + 1 + index)
    return [...this.#awaited, ...epochs].filter((epoch) => !this.#known.has(epoch)).sort((a, b) => a - b)
  }

  #meet(slot: number, epoch: number): Member | undefined {
    const record = this.#table.read(slot)
    if (record?.epoch !== epoch) return undefined
    const member = { slot, epoch, processId: record.processId }
    this.#known.set(epoch, member)
    return member
  }

  #ended(member: Member, fate: Fate): MemberChange {
    const held = this.#table.held(member.slot).slice()
    const still = this.#table.glance(member.slot).epoch === member.epoch
    return { type: fate === 'left' ? 'left' : 'died', member, held: still ? held : NOTHING_HELD }
  }
}

import type { Arena } from './arena.ts'
import type { EpochArchive } from './epoch-archive.ts'
import { EPOCH_ENTRIES, MEMBERS_MAX } from './layout.ts'
import {
  type Fate,
  glanceAt,
  type Member,
  type MemberTable,
  memberOf,
  type SlotGlance,
  SlotState,
} from './member-table.ts'

/** What changed between two looks at the table. */
export type MemberChange =
  | { readonly type: 'joined'; readonly member: Member }
  | { readonly type: 'left' | 'died'; readonly member: Member; readonly held: Int32Array }

const NOTHING_HELD = new Int32Array(0)

/**
 * Derives changes by comparing the table of members with an earlier look at it. There is no log that could be half
 * written. Members that came and went between two looks are found in the archive.
 */
export class MemberTracker {
  readonly #arena: Arena
  readonly #table: MemberTable
  readonly #archive: EpochArchive
  /** By slot. */
  readonly #known = new Map<number, Member>()
  /** The state words at the last look: a slot whose word has not changed is not examined again. */
  readonly #words = new Int32Array(MEMBERS_MAX)
  /** Epochs that were assigned and whose member was not there yet. */
  #awaited = new Set<number>()
  #lastEpoch: number

  /** Starts with the members that are there now; they do not count as changes. */
  constructor(arena: Arena, table: MemberTable, archive: EpochArchive) {
    this.#arena = arena
    this.#table = table
    this.#archive = archive
    this.#lastEpoch = arena.lastEpoch
    for (const [epoch, { slot, state }] of this.#changedSlots()) {
      if (state === SlotState.Claimed || (state === SlotState.Present && this.#meet(slot, epoch) === undefined)) {
        this.#awaited.add(epoch)
      }
    }
  }

  /**
   * What changed since the last look: ends of known members first, then later ones in the order in which they joined.
   */
  advance(): readonly MemberChange[] {
    const last = this.#arena.lastEpoch
    const slots = this.#changedSlots()
    if (slots.size === 0 && last === this.#lastEpoch && this.#awaited.size === 0) return []
    return [...this.#endsOfKnown(slots), ...this.#newcomers(last, slots)]
  }

  /** The slots whose word has changed since the last look, by the epoch in them. */
  #changedSlots(): ReadonlyMap<number, SlotGlance> {
    const slots = new Map<number, SlotGlance>()
    for (let slot = 0; slot < MEMBERS_MAX; slot += 1) {
      const word = this.#table.wordOf(slot)
      if (word === this.#words[slot]) continue
      this.#words[slot] = word
      const glance = glanceAt(slot, word)
      slots.set(glance.epoch, glance)
    }
    return slots
  }

  #endsOfKnown(slots: ReadonlyMap<number, SlotGlance>): MemberChange[] {
    const ended: Member[] = []
    for (const glance of slots.values()) {
      const member = this.#known.get(glance.slot)
      if (member === undefined || (glance.epoch === member.epoch && glance.state === SlotState.Present)) continue
      this.#known.delete(glance.slot)
      ended.push(member)
    }
    ended.sort((a, b) => a.epoch - b.epoch)
    // It is not even in the archive: thousands have joined since. That it ended is certain; how is not, so the worse is
    // reported.
    const fateOf = ({ epoch }: Member) => slots.get(epoch)?.fate ?? this.#archive.read(epoch)?.fate ?? 'died'
    return ended.map((member) => this.#ended(member, fateOf(member)))
  }

  #newcomers(last: number, slots: ReadonlyMap<number, SlotGlance>): MemberChange[] {
    const changes: MemberChange[] = []
    const awaited = new Set<number>()
    for (const epoch of this.#candidates(last)) {
      const found = slots.get(epoch) ?? this.#slotOf(epoch) ?? this.#archive.read(epoch)
      if (found?.fate === undefined) {
        const member = found === undefined ? undefined : this.#meet(found.slot, epoch)
        if (member !== undefined) changes.push({ type: 'joined', member })
        else if (epoch > last - EPOCH_ENTRIES) awaited.add(epoch)
      } else if (found.fate !== 'aborted') {
        const numbered = 'processId' in found ? found : this.#table.processOf(found.slot)
        const member = memberOf({ ...numbered, slot: found.slot, epoch })
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
    const known = new Set([...this.#known.values()].map((member) => member.epoch))
    return [...new Set([...this.#awaited, ...epochs])].filter((epoch) => !known.has(epoch)).sort((a, b) => a - b)
  }

  /** A slot that an earlier look saw before its epoch was announced. */
  #slotOf(epoch: number): SlotGlance | undefined {
    const slot = this.#words.findIndex((word, at) => glanceAt(at, word).epoch === epoch)
    return slot < 0 ? undefined : this.#table.glance(slot)
  }

  #meet(slot: number, epoch: number): Member | undefined {
    const record = this.#table.read(slot)
    if (record?.epoch !== epoch) return undefined
    const member = memberOf(record)
    this.#known.set(slot, member)
    return member
  }

  #ended(member: Member, fate: Fate): MemberChange {
    const held = this.#table.held(member.slot).slice()
    const still = this.#table.glance(member.slot).epoch === member.epoch
    return { type: fate === 'left' ? 'left' : 'died', member, held: still ? held : NOTHING_HELD }
  }
}

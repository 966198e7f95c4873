import type { JournalOperations, JournalReader } from '../dsm/index.ts'
import type { Profile } from '../profiling/index.ts'
import { addCoherence, type RankCounts } from './coherence-traffic.ts'
import { addCalls, addPairs, hasPairs } from './pair-traffic.ts'
import { Traffic } from './traffic.ts'
import type { LinkFrame, OperationFrame } from './wire.ts'

/** The interval of operations: a shorter one has too few that are timed. */
const OPERATIONS_MS = 1000
/** Operations are reported for this many links, the busiest. */
export const OPERATION_LINKS_MAX = 128

/** A member at a look. */
export interface SeenMember {
  readonly epoch: number
  readonly number: number
  readonly profile: Profile
  readonly journal: JournalReader | undefined
}

interface Had {
  readonly profile: Profile
  readonly journal: JournalReader | undefined
  readonly operations: JournalOperations | undefined
}

/** Turns the members' counters by operation into rates. */
export class OperationRates {
  #had = new Map<number, Had>()
  #lastMs = 0
  #lookMs = 0
  /**
   * Bytes on each link since operations were last reported. They are summed up over the looks, because the rate of a
   * link covers one look.
   */
  readonly #carried = new Map<string, number>()
  #frames: readonly OperationFrame[] = []

  /** Returns the same list as before until a second has passed. */
  next(members: readonly SeenMember[], links: readonly LinkFrame[], atMs: number): readonly OperationFrame[] {
    this.#carry(links, atMs)
    const elapsedMs = atMs - this.#lastMs
    if (elapsedMs < OPERATIONS_MS && elapsedMs >= 0) return this.#frames
    const had = this.#had
    const now = new Map(
      members.map((member) => [member.epoch, { ...member, operations: member.journal?.operations() }]),
    )
    this.#had = now
    if (this.#lastMs !== 0 && elapsedMs > 0) this.#frames = this.#told(now, had, links).frames(elapsedMs)
    this.#lastMs = atMs
    this.#carried.clear()
    return this.#frames
  }

  #carry(links: readonly LinkFrame[], atMs: number): void {
    const seconds = Math.max(0, atMs - this.#lookMs) / 1000
    this.#lookMs = atMs
    for (const { from, to, messages, pages, bytes } of links) {
      if (messages + pages + bytes === 0) continue
      const key = `${from} ${to}`
      this.#carried.set(key, (this.#carried.get(key) ?? 0) + bytes * seconds)
    }
  }

  #told(
    now: ReadonlyMap<number, SeenMember & Had>,
    had: ReadonlyMap<number, Had>,
    links: readonly LinkFrame[],
  ): Traffic {
    const busiest = new Set(
      [...this.#carried]
        .sort(([, a], [, b]) => b - a)
        .slice(0, OPERATION_LINKS_MAX)
        .map(([link]) => link),
    )
    const all = new Traffic()
    const profiled = [...now].flatMap(([epoch, { number, profile }]) => {
      const before = had.get(epoch)?.profile
      return before === undefined ? [] : [{ number, since: profile.since(before) }]
    })
    addPairs(
      all,
      profiled.filter(({ since }) => hasPairs(since)),
    )
    for (const member of profiled) addCalls(all, member)
    for (const [epoch, member] of now) {
      const counts = countsOf(member, had.get(epoch))
      if (counts === undefined) continue
      for (const { from, to } of links)
        if (from === counts.rank && (busiest.has(`${from} ${to}`) || busiest.has(`${to} ${from}`)))
          addCoherence(all, counts, to)
    }
    return all.only(({ from, to }) => to === null || busiest.has(`${from} ${to}`))
  }
}

/** Undefined if the member was not known a second ago. */
function countsOf({ journal, operations }: Had, before: Had | undefined): RankCounts | undefined {
  if (journal === undefined || operations === undefined || before === undefined) return undefined
  // A journal that has started since then counts from zero.
  return { rank: journal.rank, now: operations, before: before.journal === journal ? before.operations : undefined }
}

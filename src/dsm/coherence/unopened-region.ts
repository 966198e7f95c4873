import type { RecoveryMessage, VerdictEntry } from './recovery-message.ts'
import { judge, type RankClaim, verdictFor } from './recovery-verdict.ts'
import { type EpochMembers, type RecoveryHost, RegionRecovery } from './region-recovery.ts'

/**
 * A member's part in the recovery of a region that it has not opened. It has no copies, but may be the next home of a
 * dead rank's pages. It remembers the owners of those pages until it opens the region.
 */
export class UnopenedRegion implements RecoveryHost {
  readonly #rank: number
  readonly #recovery: RegionRecovery
  readonly #heirs = new Map<number, number>()
  readonly #whenIdle: (() => void)[] = []

  constructor(rank: number, view: EpochMembers, send: (to: number, message: RecoveryMessage) => void) {
    this.#rank = rank
    this.#recovery = new RegionRecovery(rank, view, -1, this, send)
  }

  /** The epoch in which the region is in order as far as this member is concerned; -1 where that is not known. */
  get recovered(): number {
    return this.#recovery.recovered
  }

  /** Pages of dead homes whose home this is now, with their owners. All others of theirs are lost. */
  get heirs(): ReadonlyMap<number, number> {
    return this.#heirs
  }

  viewChanged(view: EpochMembers): void {
    this.#recovery.begin(view)
  }

  receiveRecovery(from: number, message: RecoveryMessage): void {
    this.#recovery.receive(from, message)
  }

  /** Call `then` once no recovery is under way. */
  whenIdle(then: () => void): void {
    if (this.#recovery.isIdle) then()
    else this.#whenIdle.push(then)
  }

  *claims(): Generator<never> {}

  *judge(claims: ReadonlyMap<number, readonly RankClaim[]>): Generator<VerdictEntry & { readonly rank: number }> {
    this.#heirs.clear()
    for (const [page, claimed] of claims) {
      const verdict = judge(claimed, this.#rank, false)
      if (verdict.kind === 'owned') this.#heirs.set(page, verdict.owner)
      for (const { rank } of claimed) yield { rank, page, verdict: verdictFor(verdict, rank) }
    }
  }

  apply(): readonly number[] {
    return []
  }

  released(): void {}

  resume(): void {
    for (const then of this.#whenIdle.splice(0)) then()
  }
}

import type { MemberRecord } from './member-table.ts'

/**
 * What one member of a space has outside the arena, by which others find it, wake it, and see whether it lives. It does
 * the same with theirs.
 */
export interface Presence {
  /** A descriptor that is readable once this member was rung. */
  readonly bell: number
  /** From now on this member can be found, rung and watched. Under the lock. */
  appear(slot: number, epoch: number): Pick<MemberRecord, 'doorbell' | 'doorbellInode'>
  /** Forget that it was rung. */
  drain(): void
  /** A descriptor that wakes another member when it is rung; the caller closes it. Undefined if that has ended. */
  openBell(member: MemberRecord): number | undefined
  /** Whether another member still runs, by a look at the operating system. One that is stopped does. */
  isAlive(member: MemberRecord): boolean
  /** A descriptor on which epoll(7) reports the end of the member's process; the caller closes it. */
  openLife(member: MemberRecord): number | undefined
  /** This member can no longer be found. `isLast`: the others are gone, too. Under the lock. */
  withdraw(slot: number, isLast: boolean): void
  close(): void
}

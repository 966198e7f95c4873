/**
 * The watchdog of a group: what a rank waits for too long, for whom, and who waits for each other.
 */
export { BarrierWaits } from './barrier-waits.ts'
export { type GroupWaits, GroupWatch } from './group-watch.ts'
export { LeaveWaits } from './leave-waits.ts'
export { LockWaits } from './lock-waits.ts'
export type { OpenWait, SubjectAnswers, WaitFinding, WaitingPart, WaitSubject } from './subject.ts'
export { isWatchQuestion, type RankWait } from './watch-message.ts'

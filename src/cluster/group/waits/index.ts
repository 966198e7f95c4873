/** The watchdog of a group: what a rank has waited for too long, which ranks it waits on, and cycles of waits. */
export { BarrierWaits } from './barrier-waits.ts'
export { type GroupWaits, GroupWatch, type ShownWaits } from './group-watch.ts'
export { LeaveWaits } from './leave-waits.ts'
export { LockWaits } from './lock-waits.ts'
export type { OpenWait, SubjectAnswers, WaitFinding, WaitingPart, WaitSubject } from './subject.ts'
export { isWatchQuestion, type RankWait } from './watch-message.ts'

/** A table of long waits in shared memory, and the watchdog that reports them. */
export { BackOff, type TimedWait } from './back-off.ts'
export { cycleInWords, findCycle, type WaitEdges } from './cycle.ts'
export { WATCHDOG_VARIABLE, type WatchdogTimes, watchdogTimes } from './settings.ts'
export { printLine, publishWatchdog, type WatchdogMessage } from './telling.ts'
export {
  type MemberWaits,
  placeWaits,
  type WaitDescription,
  type WaitSource,
  WatchedWait,
  watchWaits,
} from './thread-waits.ts'
export { durationInWords, type KeyedWait, monotonicNow, type Wait, type WaitKind, waitInWords } from './wait.ts'
export { WAIT_TABLE_BYTES, type WaitReading, WaitTable } from './wait-table.ts'

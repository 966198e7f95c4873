import { TIMER_MS_MAX } from '../native/index.ts'

/** Round milliseconds to what a timer can hold: an integer of at least one, and at most 24.8 days. */
export function timerDelay(ms: number): number {
  return Math.min(TIMER_MS_MAX, Math.max(1, Math.ceil(ms)))
}

/** The longest delay of a timer: Node.js makes 1 ms of a longer one. */
export const TIMER_MS_MAX: number = 2 ** 31 - 1

/** So many milliseconds as a timer can hold them: whole, at least one, and 24.8 days of what is longer. */
export function timerDelay(ms: number): number {
  return Math.min(TIMER_MS_MAX, Math.max(1, Math.ceil(ms)))
}

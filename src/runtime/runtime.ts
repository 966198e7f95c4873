import type { Random } from './random.ts'
import type { Timers } from './timers.ts'

/** What a state machine may know of the world besides its events: the time, timers, and a stream of random numbers. */
export interface Runtime {
  /** Monotonic nanoseconds, as of the present turn. */
  now(): number
  readonly timers: Timers
  readonly random: Random
}

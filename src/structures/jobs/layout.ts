import { PARTICIPANTS_MAX } from '../heap/layout.ts'

/**
 * The body of a job queue.
 *
 * ```
 *     0  bell: there is a job to take       64  bell: a job has ended
 *   128  the last number that was used as an id, 64 bits
 *   136  paused    140  a bit for each ready list that was ever used    144  entries are missing
 *   152, 160  ticks that the wheel has begun, and finished, 64 bits each: see timer-wheel.ts
 *   192  ready lists: head and tail of each         see ready-lists.ts
 *   384  slots of the wheel: head and tail of each
 *  3456  the map of the jobs: id to record          the truth: see job-core.ts
 *  4544  the map of the schedules
 *  5632  an entry of 128 bytes for each member      see workers.ts
 * ```
 */
export const JobsOffset = {
  Filled: 0,
  Ended: 64,
  LastId: 128,
  Paused: 136,
  ReadyUsed: 140,
  Incomplete: 144,
  Begun: 152,
  Finished: 160,
  Ready: 192,
  Wheel: 384,
  Jobs: 3456,
  Schedules: 4544,
  Workers: 5632,
} as const

export const WORKER_BYTES = 128
export const JOBS_BODY_BYTES: number = JobsOffset.Workers + PARTICIPANTS_MAX * WORKER_BYTES

/** The longest id of a job, in bytes of UTF-8. */
export const JOB_ID_BYTES_MAX = 100

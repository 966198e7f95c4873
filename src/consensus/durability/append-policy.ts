/**
 * When the disk has what was written to a log, by the names that Redis has for it. What was written is in the
 * hands of the kernel, so no death of processes loses it. Only an end of the machine itself may.
 *
 * - `always`: before anyone is answered, by fdatasync(2).
 * - `everysec`: within a second or so.
 * - `no`: when the kernel brings it there, after 30 seconds or so.
 */
export type AppendPolicy = 'always' | 'everysec' | 'no'

export const APPEND_POLICIES: readonly AppendPolicy[] = ['always', 'everysec', 'no']

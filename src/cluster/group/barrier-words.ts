/**
 * What main thread and agent share about barriers (Int32):
 *
 * ```
 * [0] entered    generation that the main thread has entered; main thread writes
 * [1] released   last generation that all have entered; agent writes
 * [2] failed     0, or 1 + the rank without which no barrier can end; agent writes, once
 * [3] question   raised by the main thread to ask which ranks are missing
 * [4] answer     raised by the agent to `question` when every rank has answered; until then the bits below are ranks
 *                that may be missing
 * [5] possible   while [2] is not 0: the last generation that can still end, because that rank had arrived at it;
 *                agent writes
 * [6] waiting    how many calls of the main thread wait at this moment; main thread writes
 * [8 ...]        a bit for each rank that is missing
 * ```
 */
export const BarrierWord = {
  Entered: 0,
  Released: 1,
  Failed: 2,
  Question: 3,
  Answer: 4,
  Possible: 5,
  Waiting: 6,
  Missing: 8,
} as const

export function newBarrierWords(size: number): SharedArrayBuffer {
  return new SharedArrayBuffer(4 * (BarrierWord.Missing + Math.ceil(size / 32)))
}

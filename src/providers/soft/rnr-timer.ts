/** Milliseconds by the code of minRnrTimer: the table in ibv_modify_qp(3), IB specification 9.7.5.2.8. */
const timersMs: readonly number[] = [
  655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48, 0.64, 0.96, 1.28, 1.92, 2.56, 3.84, 5.12,
  7.68, 10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52,
]

/** The rnrRetry that retries for ever. */
export const RNR_RETRY_FOREVER = 7

/** How long a receiver that is not ready asks the sender to wait. */
export function rnrTimerMs(code: number): number {
  return timersMs[code & 31]!
}

/** How long a requester waits for a peer that does not answer, over all its retries; 0 means for ever. */
export function answerTimeoutMs(timeout: number, retryCount: number): number {
  return timeout === 0 ? 0 : 0.004096 * 2 ** timeout * (retryCount + 1)
}

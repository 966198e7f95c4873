import { ArgumentError } from '../../native/index.ts'

/** Of this thread: what combines elements, perhaps a function of the program, is running. */
let isCombining = false

/** Run a kernel. A function of the program may begin a collective, which may have something to combine at once. */
export function combining(kernel: () => void): void {
  const before = isCombining
  isCombining = true
  try {
    kernel()
  } finally {
    isCombining = before
  }
}

/**
 * Check a call that blocks before it begins anything. A combining function is called while received data is processed,
 * and nothing more comes until it returns. @throws ArgumentError
 */
export function checkNotCombining(): void {
  if (isCombining)
    throw new ArgumentError(
      'combine',
      'an operation that combines must not wait for peers, because it runs while their data is received',
    )
}

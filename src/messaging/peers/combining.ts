import { ArgumentError } from '../../native/index.ts'

/** Of this thread: what combines elements, perhaps a function of the program, is running. */
let isCombining = false

/** Runs a kernel. A function of the program may begin a collective, which may have something to combine at once. */
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
 * For calls that block, before anything of them is begun: what combines is called in the midst of what has come, and
 * nothing else comes until it returns. @throws ArgumentError
 */
export function checkNotCombining(): void {
  if (isCombining)
    throw new ArgumentError('combine', 'what combines must not wait for peers: it is called by what comes of them')
}

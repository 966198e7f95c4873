import { constants } from 'node:os'
import process from 'node:process'

/**
 * What a signal to end does to work in progress. `exit`: the process exits at once, and exit handlers clean up.
 * `settle`: the work notices the signal by itself, and the process exits when the work is done. `kill`: there is
 * nothing to clean up and the event loop is blocked, so the system ends the process.
 */
export type Interruption = 'exit' | 'settle' | 'kill'

/** Signals that ask a process to end. */
export const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The result of `work`. If it is interrupted, the exit status is 128 + the number of the signal. */
export async function interruptible<T>(interruption: Interruption, work: () => Promise<T>): Promise<T> {
  if (interruption === 'kill') return await work()
  let heard: NodeJS.Signals | undefined
  const onSignal = (signal: NodeJS.Signals): void => {
    heard = signal
    if (interruption === 'exit') exitBy(signal)
  }
  for (const signal of endingSignals) process.on(signal, onSignal)
  try {
    return await work()
  } finally {
    for (const signal of endingSignals) process.off(signal, onSignal)
    if (heard !== undefined) exitBy(heard)
  }
}

function exitBy(signal: NodeJS.Signals): never {
  process.exit(128 + constants.signals[signal])
}

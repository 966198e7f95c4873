import { constants } from 'node:os'
import process from 'node:process'

/**
 * What a signal to end does to work under way. `exit`: the process exits at once, and in that gives back what was made
 * and started. `settle`: the work hears of it by itself, and when it is over the process exits. `kill`: there is
 * nothing to be given back, and the event loop has no turn; the system ends the process.
 */
export type Interruption = 'exit' | 'settle' | 'kill'

/** By which somebody asks a process to end. */
export const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** What `work` gives. Interrupted, the status is 128 and the number of the signal. */
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

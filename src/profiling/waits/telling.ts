import { channel } from 'node:diagnostics_channel'
import { printError } from '../print-error.ts'
import type { Wait } from './wait.ts'

/** What subscribers of the diagnostics channel `aether:watchdog` receive. */
export interface WatchdogMessage {
  /** The line as printed on standard error. */
  readonly text: string
  readonly wait: Wait
  /** The rank that waits; undefined outside of groups. */
  readonly rank?: number
  /** For a deadlock: the ranks that wait for each other, in a cycle. */
  readonly cycle?: readonly number[]
  /** The same for processes of one machine that are not ranks. */
  readonly processCycle?: readonly number[]
}

const watchdog = channel('aether:watchdog')

export function printLine(text: string): void {
  printError(`aether: watchdog: ${text}\n`)
}

/** Publish to this thread's subscribers. */
export function publishWatchdog(message: WatchdogMessage): void {
  if (watchdog.hasSubscribers) watchdog.publish(message)
}

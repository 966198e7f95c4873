import process from 'node:process'

/** After how many milliseconds a wait is reported; 0: never. */
export const WATCHDOG_VARIABLE = 'AETHER_WATCHDOG_MS'
const WATCHDOG_MS = 5000
/** Shorter would tell of what is only busy. */
const WATCHDOG_MS_MIN = 50
const LOOKS_PER_TIME = 8
const LOOK_MS_MIN = 10
const LOOK_MS_MAX = 1000

/** After how long a wait counts as slow, and how often the watchdog looks. Undefined if the watchdog is off. */
export interface WatchdogTimes {
  readonly afterMs: number
  readonly lookMs: number
}

/** Parse `text`, the value of AETHER_WATCHDOG_MS. Anything but a number counts as not set. */
export function watchdogTimes(text: string | undefined = process.env[WATCHDOG_VARIABLE]): WatchdogTimes | undefined {
  const given = text === undefined || text.trim() === '' ? WATCHDOG_MS : Number(text)
  if (given === 0) return undefined
  const afterMs = given > 0 && given < 2 ** 31 ? Math.max(WATCHDOG_MS_MIN, given) : WATCHDOG_MS
  return { afterMs, lookMs: Math.min(LOOK_MS_MAX, Math.max(LOOK_MS_MIN, afterMs / LOOKS_PER_TIME)) }
}

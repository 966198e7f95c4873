import { ArgumentError, mustBe, shown } from '../native/index.ts'

/** A length of time: a number of milliseconds, or text with a unit: `500`, `'30s'`, `'1min'`, `'1.5 h'`. */
export type Duration = number | string

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 }
/** The longest that a timer takes. */
const DURATION_MS_MAX = 2 ** 31 - 1
const RULE = "a number of milliseconds from 1 to 2^31 - 1, or text such as '1min'"
const PATTERN = /^(\d+(?:\.\d+)?)\s*([A-Za-z]*)$/

/** A {@link Duration} in milliseconds. @throws ArgumentError naming `argument` if it is not one. */
export function parseDuration(duration: Duration, argument: string): number {
  const ms = typeof duration === 'string' ? parseText(duration, argument) : duration
  if (Number.isFinite(ms) && ms >= 1 && ms <= DURATION_MS_MAX) return ms
  throw mustBe(argument, RULE, duration)
}

function parseText(text: string, argument: string): number {
  const match = PATTERN.exec(text.trim())
  if (match === null) throw mustBe(argument, RULE, text)
  const [, digits = '', unit = ''] = match
  const factor = UNITS[unit === '' ? 'ms' : unit]
  if (factor !== undefined) return Number(digits) * factor
  const why = `${shown(unit)} is not a known unit (${Object.keys(UNITS).join(', ')})`
  throw new ArgumentError(argument, `${argument} must be ${RULE}, not ${shown(text)}: ${why}`)
}

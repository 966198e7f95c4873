import { ArgumentError, mustBe, shown } from '../native/index.ts'

/** A number of bytes, or text with a binary unit: `4096`, `'64KiB'`, `'1.5 GiB'`. */
export type Size = number | string

const UNITS: Readonly<Record<string, number>> = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 }
const RULE = "a whole number of bytes above 0, or text such as '64MiB'"
const PATTERN = /^(\d+(?:\.\d+)?)\s*([A-Za-z]*)$/

/**
 * A {@link Size} in bytes. Decimal units (`MB`) are refused: half of their users mean the binary ones, and the two must
 * not meet in one region.
 * @throws ArgumentError naming `argument` if it is not a whole number of bytes between 1 and 2^53 - 1.
 */
export function parseSize(size: Size, argument: string): number {
  const bytes = typeof size === 'string' ? parseText(size, argument) : size
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes
  throw mustBe(argument, RULE, size)
}

/** Bytes for people: `67108864` is `64 MiB`; a size that is not a whole number of units is printed in bytes. */
export function formatSize(bytes: number): string {
  for (const unit of ['TiB', 'GiB', 'MiB', 'KiB']) {
    const factor = UNITS[unit]!
    if (bytes >= factor && bytes % factor === 0) return `${bytes / factor} ${unit}`
  }
  return `${bytes} B`
}

function parseText(text: string, argument: string): number {
  const match = PATTERN.exec(text.trim())
  if (match === null) throw mustBe(argument, RULE, text)
  const [, digits = '', unit = ''] = match
  const factor = UNITS[unit === '' ? 'B' : unit]
  if (factor === undefined)
    throw new ArgumentError(argument, `${argument} must be ${RULE}, not ${shown(text)}: ${unitHint(unit)}`)
  return Number(digits) * factor
}

function unitHint(unit: string): string {
  const binary = Object.keys(UNITS).find((known) => known.charAt(0).toLowerCase() === unit.charAt(0).toLowerCase())
  const hint = binary === undefined ? '' : `; did you mean ${binary}?`
  return `${shown(unit)} is not a known unit (B, KiB, MiB, GiB, TiB)${hint}`
}

/** The next multiple of `unit`. */
export function alignUp(value: number, unit: number): number {
  return Math.ceil(value / unit) * unit
}

/**
 * Numbers for people: three significant digits, thousands separated, always with a unit.
 * @module
 */

const counts = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })

/** `4,000,000`. */
export function formatCount(count: number): string {
  return counts.format(count)
}

/** Milliseconds as `150 ns`, `870 µs`, `12.3 ms` or `4.56 s`. */
export function formatTime(ms: number): string {
  if (ms >= 999.5) return `${threeDigits(ms / 1000)} s`
  if (ms >= 0.9995) return `${threeDigits(ms)} ms`
  if (ms >= 0.0009995 || ms === 0) return `${threeDigits(ms * 1000)} µs`
  return `${threeDigits(ms * 1e6)} ns`
}

/** Events per second as `33.4 k/s` or `35.7 M/s`. */
export function formatRate(perSecond: number): string {
  if (perSecond >= 999_500) return `${threeDigits(perSecond / 1e6)} M/s`
  if (perSecond >= 999.5) return `${threeDigits(perSecond / 1000)} k/s`
  return `${threeDigits(perSecond)} /s`
}

/** Bytes as `512 B`, `4.00 KiB`, `1.50 GiB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes
  let unit = 0
  while (value >= 1023.5 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  return unit === 0 ? `${value} B` : `${threeDigits(value)} ${units[unit]}`
}

/** A ratio as `1.63x`; a small one keeps two significant digits: `0.042x`. */
export function formatRatio(ratio: number): string {
  return `${ratio < 0.1 ? ratio.toPrecision(2) : threeDigits(ratio)}x`
}

function threeDigits(value: number): string {
  if (value >= 99.95) return counts.format(value)
  return value.toFixed(value >= 9.995 ? 1 : 2)
}

/** A process: its number here, or in another container. */
export function processText({
  processId,
  foreign,
}: {
  readonly processId: number
  readonly foreign?: true | undefined
}): string {
  return foreign === true ? `${processId} elsewhere` : String(processId)
}

/** Numbers for people: three significant digits and a unit. */

function three(value: number): string {
  return value >= 99.95 ? Math.round(value).toLocaleString('en-GB') : value.toFixed(value >= 9.995 ? 1 : 2)
}

export function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let [value, unit] = [bytes, 0]
  while (value >= 1023.5 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1]
  return unit === 0 ? `${Math.round(value)} B` : `${three(value)} ${units[unit]}`
}

export const rateText = (bytes: number): string => `${bytesText(bytes)}/s`

export function countText(count: number): string {
  if (count >= 999.5e6) return `${three(count / 1e9)} G`
  if (count >= 999_500) return `${three(count / 1e6)} M`
  if (count >= 9999.5) return `${three(count / 1e3)} k`
  return Math.round(count).toLocaleString('en-GB')
}

export function timeText(ns: number): string {
  if (ns >= 1e9) return `${three(ns / 1e9)} s`
  if (ns >= 1e6) return `${three(ns / 1e6)} ms`
  return ns >= 1000 ? `${three(ns / 1000)} µs` : `${Math.round(ns)} ns`
}

/** A process: its number here, or in another container. */
export function processText({ processId, foreign }: { processId: number; foreign?: true | undefined }): string {
  return foreign ? `${processId} elsewhere` : String(processId)
}

/** As C's %.14g writes it: how Lua 5.1 shows numbers. */
const PRECISION = 14

export function numberText(value: number, precision: number = PRECISION): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [mantissa, exponentText] = value.toExponential(precision - 1).split('e') as [string, string]
  const exponent = Number(exponentText)
  if (exponent >= -4 && exponent < precision) return trimmed(value.toFixed(precision - 1 - exponent))
  const digits = String(Math.abs(exponent)).padStart(2, '0')
  return `${trimmed(mantissa)}e${exponent < 0 ? '-' : '+'}${digits}`
}

function trimmed(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal
}

import type { Complex } from '../../types/complex.ts'

/** The quotient, scaled so that no square overflows (R. L. Smith, "Algorithm 116: Complex division", CACM 5, 1962). */
export function quotient(ar: number, ai: number, br: number, bi: number): Complex {
  if (bi === 0) return { re: ar / br, im: ai / br }
  if (Math.abs(br) >= Math.abs(bi)) {
    const ratio = bi / br
    const divisor = br + bi * ratio
    return { re: (ar + ai * ratio) / divisor, im: (ai - ar * ratio) / divisor }
  }
  const ratio = br / bi
  const divisor = br * ratio + bi
  return { re: (ar * ratio + ai) / divisor, im: (ai * ratio - ar) / divisor }
}

/** The square root in the right half plane. */
export function squareRoot(re: number, im: number): Complex {
  const size = Math.hypot(re, im)
  if (size === 0) return { re: 0, im: 0 }
  const long = Math.sqrt((size + Math.abs(re)) / 2)
  const short = im / (2 * long)
  if (re >= 0) return { re: long, im: short }
  return { re: Math.abs(short), im: im < 0 ? -long : long }
}

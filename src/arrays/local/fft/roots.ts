/** The first `count` of the n complex roots of unity e^(-2πik/n), real and imaginary parts apart. */
export interface Roots {
  readonly re: Float64Array
  readonly im: Float64Array
}

/**
 * Angles are folded into the first octant before the sine is taken. There the argument is rounded least, and roots that
 * mirror each other have the same bits.
 */
export function rootsOfUnity(n: number, count: number = n): Roots {
  const roots = { re: new Float64Array(count), im: new Float64Array(count) }
  for (let k = 0; k < count; k += 1) setRoot(roots, k, k, n)
  return roots
}

/** Writes e^(-2πik/n) at `at`, for 0 <= k < n. */
export function setRoot({ re, im }: Roots, at: number, k: number, n: number): void {
  let eighths = 8 * k
  const below = eighths > 4 * n
  if (below) eighths = 8 * n - eighths
  const left = eighths > 2 * n
  if (left) eighths = 4 * n - eighths
  const steep = eighths > n
  if (steep) eighths = 2 * n - eighths
  const angle = (Math.PI * eighths) / (4 * n)
  const long = Math.cos(angle)
  const short = Math.sin(angle)
  const x = steep ? short : long
  const y = steep ? long : short
  re[at] = left ? -x : x
  im[at] = below ? y : -y
}

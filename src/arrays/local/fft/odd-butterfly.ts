import type { Butterfly } from './butterflies.ts'
import { rootsOfUnity } from './roots.ts'

/**
 * The pass of an odd prime without formulas of its own. Inputs j and radix - j share their products: sums go with the
 * cosines, differences with the sines.
 */
export function oddButterfly(radix: number): Butterfly {
  const roots = rootsOfUnity(radix)
  const half = (radix - 1) / 2
  const sumRe = new Float64Array(half + 1)
  const sumIm = new Float64Array(half + 1)
  const differenceRe = new Float64Array(half + 1)
  const differenceIm = new Float64Array(half + 1)
  return ({ groups, stride, re: wr, im: wi }, from, to) => {
    const { re: fr, im: fi } = from
    const { re: tr, im: ti } = to
    const far = stride * groups
    for (let k = 0; k < groups; k += 1)
      for (let i = 0; i < stride; i += 1) {
        const first = i + stride * radix * k
        const out = i + stride * k
        const re = fr[first]!
        const im = fi[first]!
        let totalRe = re
        let totalIm = im
        for (let j = 1; j <= half; j += 1) {
          const a = first + stride * j
          const b = first + stride * (radix - j)
          sumRe[j] = fr[a]! + fr[b]!
          sumIm[j] = fi[a]! + fi[b]!
          differenceRe[j] = fr[a]! - fr[b]!
          differenceIm[j] = fi[a]! - fi[b]!
          totalRe += sumRe[j]!
          totalIm += sumIm[j]!
        }
        tr[out] = totalRe
        ti[out] = totalIm
        for (let u = 1; u <= half; u += 1) {
          let evenRe = re
          let evenIm = im
          let oddRe = 0
          let oddIm = 0
          let angle = 0
          for (let j = 1; j <= half; j += 1) {
            angle += u
            if (angle >= radix) angle -= radix
            const cosine = roots.re[angle]!
            const sine = roots.im[angle]!
            evenRe += sumRe[j]! * cosine
            evenIm += sumIm[j]! * cosine
            oddRe -= differenceIm[j]! * sine
            oddIm += differenceRe[j]! * sine
          }
          let w = i + stride * (u - 1)
          let at = out + far * u
          tr[at] = (evenRe + oddRe) * wr[w]! - (evenIm + oddIm) * wi[w]!
          ti[at] = (evenRe + oddRe) * wi[w]! + (evenIm + oddIm) * wr[w]!
          w = i + stride * (radix - u - 1)
          at = out + far * (radix - u)
          tr[at] = (evenRe - oddRe) * wr[w]! - (evenIm - oddIm) * wi[w]!
          ti[at] = (evenRe - oddRe) * wi[w]! + (evenIm - oddIm) * wr[w]!
        }
      }
  }
}

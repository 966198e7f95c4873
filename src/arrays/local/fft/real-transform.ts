import type { Split } from '../../kernels/native-transforms.ts'
import { planOf } from './plan.ts'

/**
 * Transforms of n real numbers, in place. `re` has the numbers, or both parts have the first n/2 + 1 complex ones. The
 * others are their conjugates. Arrays have room for n + 1 numbers. Forward and backward together multiply by n.
 */
export interface RealTransform {
  readonly forward: (data: Split) => void
  readonly backward: (data: Split) => void
}

export function realTransform(n: number): RealTransform {
  return n % 2 === 0 && n > 0 ? evenTransform(n) : oddTransform(n)
}

/** Neighbours are the two parts of one complex number, so that a transform of half the length does it. */
function evenTransform(n: number): RealTransform {
  const half = n / 2
  const plan = planOf(half)
  const { roots } = planOf(n)
  const { line: packed, work } = plan
  const { inPlace } = plan.transform
  const exchanged: Split = { re: packed.im, im: packed.re }
  return {
    forward({ re, im }) {
      for (let k = 0; k < half; k += 1) {
        packed.re[k] = re[2 * k]!
        packed.im[k] = re[2 * k + 1]!
      }
      inPlace(packed, work)
      for (let k = 0; k <= half; k += 1) {
        const a = k === half ? 0 : k
        const b = k === 0 ? 0 : half - k
        const evenRe = (packed.re[a]! + packed.re[b]!) / 2
        const evenIm = (packed.im[a]! - packed.im[b]!) / 2
        const oddRe = (packed.im[a]! + packed.im[b]!) / 2
        const oddIm = (packed.re[b]! - packed.re[a]!) / 2
        re[k] = evenRe + roots.re[k]! * oddRe - roots.im[k]! * oddIm
        im[k] = evenIm + roots.re[k]! * oddIm + roots.im[k]! * oddRe
      }
    },
    backward({ re, im }) {
      im[0] = im[half] = 0
      for (let k = 0; k < half; k += 1) {
        const evenRe = re[k]! + re[half - k]!
        const evenIm = im[k]! - im[half - k]!
        const differenceRe = re[k]! - re[half - k]!
        const differenceIm = im[k]! + im[half - k]!
        const oddRe = differenceRe * roots.re[k]! + differenceIm * roots.im[k]!
        const oddIm = differenceIm * roots.re[k]! - differenceRe * roots.im[k]!
        packed.re[k] = evenRe - oddIm
        packed.im[k] = evenIm + oddRe
      }
      inPlace(exchanged, work)
      for (let k = 0; k < half; k += 1) {
        re[2 * k] = packed.re[k]!
        re[2 * k + 1] = packed.im[k]!
      }
    },
  }
}

function oddTransform(n: number): RealTransform {
  const { transform, work } = planOf(n)
  const { inPlace } = transform
  return {
    forward(data) {
      data.im.fill(0)
      inPlace(data, work)
    },
    backward({ re, im }) {
      im[0] = 0
      for (let k = 1; 2 * k < n; k += 1) {
        re[n - k] = re[k]!
        im[n - k] = -im[k]!
      }
      inPlace({ re: im, im: re }, work)
    },
  }
}

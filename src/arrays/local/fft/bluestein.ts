import type { Split } from '../../kernels/native-transforms.ts'
import { factorsOf, mixedRadix, type Transform } from './mixed-radix.ts'
import { type Roots, setRoot } from './roots.ts'

/** The smallest number from `least` on whose prime factors are 2, 3 and 5. */
export function smoothLength(least: number): number {
  let best = 2 ** Math.ceil(Math.log2(least))
  for (let fives = 1; fives < best; fives *= 5)
    for (let threes = fives; threes < best; threes *= 3) {
      let length = threes
      while (length < least) length *= 2
      if (length < best) best = length
    }
  return best
}

/**
 * A transform of any length as a convolution with a chirp, done by transforms of a smooth length. See L. I. Bluestein,
 * "A linear filtering approach to the computation of discrete Fourier transform", IEEE Trans. Audio Electroacoust. 18,
 * 1970.
 */
export function bluestein(n: number): Transform {
  const length = smoothLength(2 * n - 1)
  const { inPlace } = mixedRadix(length, factorsOf(length))
  const chirp = chirpOf(n)
  const data: Split = { re: new Float64Array(length), im: new Float64Array(length) }
  const work: Split = { re: new Float64Array(length), im: new Float64Array(length) }
  // The transform of the conjugate chirp, wrapped around, with the factor of the inverse transform in it.
  for (let k = 0; k < n; k += 1) {
    const mirrored = k === 0 ? 0 : length - k
    data.re[k] = data.re[mirrored] = chirp.re[k]! / length
    data.im[k] = data.im[mirrored] = -chirp.im[k]! / length
  }
  inPlace(data, work)
  const filter: Split = { re: data.re.slice(), im: data.im.slice() }
  return { inPlace: ({ re, im }) => convolve(re, im) }

  function convolve(re: Float64Array, im: Float64Array): void {
    for (let k = 0; k < n; k += 1) {
      data.re[k] = re[k]! * chirp.re[k]! - im[k]! * chirp.im[k]!
      data.im[k] = re[k]! * chirp.im[k]! + im[k]! * chirp.re[k]!
    }
    data.re.fill(0, n)
    data.im.fill(0, n)
    inPlace(data, work)
    for (let k = 0; k < length; k += 1) {
      const product = data.re[k]! * filter.re[k]! - data.im[k]! * filter.im[k]!
      data.im[k] = data.re[k]! * filter.im[k]! + data.im[k]! * filter.re[k]!
      data.re[k] = product
    }
    // The inverse transform is the forward one with real and imaginary parts exchanged.
    inPlace({ re: data.im, im: data.re }, work)
    for (let k = 0; k < n; k += 1) {
      re[k] = data.re[k]! * chirp.re[k]! - data.im[k]! * chirp.im[k]!
      im[k] = data.re[k]! * chirp.im[k]! + data.im[k]! * chirp.re[k]!
    }
  }
}

/** e^(-πik²/n), with k² kept below 2n so that no bit of the angle is lost. */
function chirpOf(n: number): Roots {
  const chirp = { re: new Float64Array(n), im: new Float64Array(n) }
  let square = 0
  for (let k = 0; k < n; k += 1) {
    setRoot(chirp, k, square, 2 * n)
    square = (square + 2 * k + 1) % (2 * n)
  }
  return chirp
}

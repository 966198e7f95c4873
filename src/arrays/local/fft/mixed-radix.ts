import { type Butterfly, butterfly2, butterfly3, butterfly4, butterfly5, type Pass, type Split } from './butterflies.ts'
import { oddButterfly } from './odd-butterfly.ts'
import { rootsOfUnity } from './roots.ts'

/** A transform e^(-2πi…) in place, without a factor. `work` has the length of the data and is written over. */
export type Transform = (data: Split, work: Split) => void

/** Fours first, then a two, then odd primes in rising order. */
export function factorsOf(n: number): number[] {
  const factors: number[] = []
  let rest = n
  while (rest % 4 === 0) {
    factors.push(4)
    rest /= 4
  }
  for (let factor = 2; factor * factor <= rest; factor += factor === 2 ? 1 : 2)
    while (rest % factor === 0) {
      factors.push(factor)
      rest /= factor
    }
  if (rest > 1) factors.push(rest)
  return factors
}

const butterflies: Readonly<Record<number, Butterfly>> = { 2: butterfly2, 3: butterfly3, 4: butterfly4, 5: butterfly5 }

/** Passes over the factors of n, from one array to the other and back. */
export function mixedRadix(n: number, factors: readonly number[]): Transform {
  const roots = rootsOfUnity(n)
  let groups = 1
  const passes = factors.map((radix) => {
    const stride = n / (groups * radix)
    const pass: Pass = {
      radix,
      groups,
      stride,
      re: new Float64Array(stride * (radix - 1)),
      im: new Float64Array(stride * (radix - 1)),
    }
    for (let j = 1; j < radix; j += 1)
      for (let i = 0; i < stride; i += 1) {
        pass.re[i + stride * (j - 1)] = roots.re[j * i * groups]!
        pass.im[i + stride * (j - 1)] = roots.im[j * i * groups]!
      }
    groups *= radix
    return { pass, butterfly: butterflies[radix] ?? oddButterfly(radix) }
  })
  return (data, work) => {
    let from = data
    let to = work
    for (const { pass, butterfly } of passes) {
      butterfly(pass, from, to)
      ;[from, to] = [to, from]
    }
    if (from !== data) {
      data.re.set(work.re.length === n ? work.re : work.re.subarray(0, n))
      data.im.set(work.im.length === n ? work.im : work.im.subarray(0, n))
    }
  }
}

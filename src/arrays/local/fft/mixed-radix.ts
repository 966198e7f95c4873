import { type NativeTransform, nativeTransform, type Split } from '../../kernels/native-transforms.ts'
import { type Butterfly, butterfly2, butterfly3, butterfly4, butterfly5, type Pass } from './butterflies.ts'
import { oddButterfly } from './odd-butterfly.ts'
import { type Roots, rootsOfUnity } from './roots.ts'

/** A transform e^(-2πi…) without a factor. `work` has the length of the data and is written over. */
export interface Transform {
  readonly inPlace: (data: Split, work: Split) => void
  /** From a line of a block to one of another, where the addon does it. */
  readonly fromLine?: NativeTransform['fromLine']
}

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

/** Fewer elements are transformed in less time than a call of the addon takes. */
const NATIVE_MIN = 48

/** Passes over the factors of n, from one array to the other and back. */
export function mixedRadix(n: number, factors: readonly number[]): Transform {
  const roots = new Float64Array(2 * n)
  const passes = passesOf(n, factors, { re: roots.subarray(0, n), im: roots.subarray(n) })
  return (n >= NATIVE_MIN ? nativeTransform(factors, roots) : undefined) ?? { inPlace: twinOf(n, passes) }
}

/** The passes, whose roots are put into `to` one pass after another. */
function passesOf(n: number, factors: readonly number[], to: Roots): Pass[] {
  const roots = rootsOfUnity(n)
  let groups = 1
  let start = 0
  return factors.map((radix) => {
    const stride = n / (groups * radix)
    const first = start
    for (let j = 1; j < radix; j += 1)
      for (let i = 0; i < stride; i += 1, start += 1) {
        to.re[start] = roots.re[j * i * groups]!
        to.im[start] = roots.im[j * i * groups]!
      }
    const pass = { radix, groups, stride, re: to.re.subarray(first, start), im: to.im.subarray(first, start) }
    groups *= radix
    return pass
  })
}

function twinOf(n: number, passes: readonly Pass[]): Transform['inPlace'] {
  const steps = passes.map((pass) => ({ pass, butterfly: butterflies[pass.radix] ?? oddButterfly(pass.radix) }))
  return (data, work) => {
    let from = data
    let to = work
    for (const { pass, butterfly } of steps) {
      butterfly(pass, from, to)
      ;[from, to] = [to, from]
    }
    if (from !== data) {
      data.re.set(work.re.length === n ? work.re : work.re.subarray(0, n))
      data.im.set(work.im.length === n ? work.im : work.im.subarray(0, n))
    }
  }
}

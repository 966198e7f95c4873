import { newResult } from '../../blocks/block.ts'
import type { Split } from '../../kernels/native-transforms.ts'
import { float64 } from '../../types/dtype.ts'
import { bluestein, smoothLength } from './bluestein.ts'
import { factorsOf, mixedRadix, type Transform } from './mixed-radix.ts'
import { type Roots, rootsOfUnity } from './roots.ts'

/** Tables for transforms of one length, each made when it is first used. */
export interface Plan {
  readonly transform: Transform
  /** The first n/2 roots of the length, for transforms of real numbers. */
  readonly roots: Roots
  /** Memory for one line of n + 1 numbers, and for work on it, with anything in it. One transform at a time has it. */
  readonly line: Split
  readonly work: Split
}

/** Memory of longer lines is not kept, since that of large results is made of earlier ones anyway. */
const KEPT_MAX = 2 ** 13

/** The sum of the lengths of plans that are kept. A plan takes about 32 bytes for each element. */
const LENGTHS_MAX = 1 << 21
/** Plans by length, the one used last at the end. */
const plans = new Map<number, Plan>()
let lengths = 0

export function planOf(n: number): Plan {
  const known = plans.get(n)
  const plan = known ?? newPlan(n)
  if (known === undefined) lengths += n
  else plans.delete(n)
  plans.set(n, plan)
  for (const [oldest] of plans) {
    if (lengths <= LENGTHS_MAX || oldest === n) break
    plans.delete(oldest)
    lengths -= oldest
  }
  return plan
}

function newPlan(n: number): Plan {
  let transform: Transform | undefined
  let roots: Roots | undefined
  let line: Split | undefined
  let work: Split | undefined
  return {
    get line() {
      const given = line ?? newSplit(n + 1)
      if (n <= KEPT_MAX) line = given
      return given
    },
    get work() {
      const given = work ?? newSplit(n)
      if (n <= KEPT_MAX) work = given
      return given
    },
    get transform() {
      transform ??= newTransform(n)
      return transform
    },
    get roots() {
      roots ??= rootsOfUnity(n, (n >> 1) + 1)
      return roots
    },
  }
}

function newSplit(n: number): Split {
  const numbers = (): Float64Array => newResult(float64, [n]).data as Float64Array
  return { re: numbers(), im: numbers() }
}

function newTransform(n: number): Transform {
  const factors = factorsOf(n)
  const smooth = smoothLength(2 * n - 1)
  const isChirpCheaper = n > 1 && 3 * cost(smooth, factorsOf(smooth)) < cost(n, factors)
  return isChirpCheaper ? bluestein(n) : mixedRadix(n, factors)
}

/** Multiplications of a transform, roughly: a pass of radix r has r for each element. */
function cost(n: number, factors: readonly number[]): number {
  return factors.reduce((sum, factor) => sum + n * factor, 0)
}

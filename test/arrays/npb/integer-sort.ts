import type { Arrays } from '../../../src/arrays/open-arrays.ts'
import { allOf } from '../support/all-of.ts'
import { randomRows } from './random-numbers.ts'

/**
 * Keys and their greatest as powers of two, and the ranks of five keys. The first `rising` of these grow with each
 * iteration, from `shift` on, the others fall.
 */
const CLASSES = {
  S: {
    keyBits: 16,
    greatestBits: 11,
    indices: [48427, 17148, 23627, 62548, 4431],
    ranks: [0, 18, 346, 64917, 65463],
    rising: 3,
    shift: 0,
  },
  W: {
    keyBits: 20,
    greatestBits: 16,
    indices: [357773, 934767, 875723, 898999, 404505],
    ranks: [1249, 11698, 1039987, 1043896, 1048018],
    rising: 2,
    shift: 2,
  },
} as const

const SEED = 314159265
const ITERATIONS = 10

/**
 * IS of the NAS Parallel Benchmarks: keys are sorted, and the places of some are as the benchmark states. Returns how
 * many are not.
 */
export async function integerSort(xp: Arrays, name: keyof typeof CLASSES): Promise<number> {
  const { keyBits, greatestBits, indices, ranks, rising, shift } = CLASSES[name]
  const [count, greatest] = [2 ** keyBits, 2 ** greatestBits]
  const numbers = await randomRows(xp, { seed: SEED, first: 0, rows: count / 256, columns: 1024, partition: 'block' })
  const four = xp.reshape(numbers, [count, 4]).sum({ axis: 1 })
  const keys = await xp
    .asarray(xp.floor(four.multiply(2 ** -46 * (greatest / 4))).astype(xp.int32), { copy: true })
    .compute()
  const wanted = xp.asarray(indices, { dtype: xp.int64 })
  let wrong = 0
  for (let iteration = 1; iteration <= ITERATIONS; iteration += 1) {
    keys.setAt(String(iteration), iteration)
    keys.setAt(String(iteration + ITERATIONS), greatest - iteration)
    const sorted = await xp.sort(keys).compute()
    const looked = await xp.take(keys, wanted).compute()
    const places = Array.from(await allOf(xp.searchsorted(sorted, looked)), Number)
    for (const [at, place] of places.entries()) {
      const expected = ranks[at]! + (at < rising ? iteration - shift : -iteration)
      if (place !== expected) wrong += 1
    }
    if ((await xp.any(xp.diff(sorted).less(0)).compute()).item() === true) wrong += 1
  }
  return wrong
}

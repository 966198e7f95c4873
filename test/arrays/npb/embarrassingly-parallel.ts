import type { NdArray } from '../../../src/arrays/array.ts'
import type { Arrays } from '../../../src/arrays/open-arrays.ts'
import { randomRows } from './random-numbers.ts'

/** Pairs of numbers as a power of two, and what their normal deviates must add up to. */
const CLASSES = {
  S: { bits: 24, x: -3.24783465203474e3, y: -6.958407078382297e3 },
  W: { bits: 25, x: -2.863319731645753e3, y: -6.320053679109499e3 },
} as const

const SEED = 271828183
const [ROWS, COLUMNS] = [256, 4096]

/**
 * EP of the NAS Parallel Benchmarks: normal deviates by the polar method, and their sums. Returns how far these are
 * from those that the benchmark states, which may be 1e-8.
 */
export async function embarrassinglyParallel(xp: Arrays, name: keyof typeof CLASSES): Promise<number> {
  const { bits, x, y } = CLASSES[name]
  let [sumX, sumY] = [0, 0]
  for (let first = 0; first < 2 ** (bits + 1); first += ROWS * COLUMNS) {
    const numbers = await randomRows(xp, { seed: SEED, first, rows: ROWS, columns: COLUMNS, partition: 'block' })
    const points = await numbers
      .multiply(2 ** -45)
      .subtract(1)
      .compute()
    const [one, other] = [points.slice(':, ::2'), points.slice(':, 1::2')]
    const squares = await one.multiply(one).add(other.multiply(other)).compute()
    const factors = await xp
      .where(squares.lessEqual(1), xp.sqrt(xp.log(squares).multiply(-2).divide(squares)), 0)
      .compute()
    sumX += await total(one.multiply(factors))
    sumY += await total(other.multiply(factors))
  }
  return Math.max(Math.abs(sumX / x - 1), Math.abs(sumY / y - 1))
}

async function total(x: NdArray): Promise<number> {
  return (await x.sum().compute()).item() as number
}

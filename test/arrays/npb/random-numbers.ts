import type { NdArray } from '../../../src/arrays/array.ts'
import type { Arrays } from '../../../src/arrays/open-arrays.ts'
import type { Division } from '../../../src/arrays/partitions/partition.ts'

/** The multiplier of the generator of the NAS Parallel Benchmarks: x' = 5^13 x modulo 2^46. */
const MULTIPLIER = 5n ** 13n
const MODULUS = 2n ** 46n

/** `MULTIPLIER` to a power. */
function power(exponent: bigint): bigint {
  let [result, base] = [1n, MULTIPLIER]
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * base) % MODULUS
    base = (base * base) % MODULUS
  }
  return result
}

/** Numbers in (0, 1) one after another. */
export function randomNumbers(seed: number): () => number {
  let state = BigInt(seed)
  return () => {
    state = (MULTIPLIER * state) % MODULUS
    return Number(state) * 2 ** -46
  }
}

/**
 * The numbers times 2^46 from number `first` on, counted from 0, as an array of rows, which are divided among ranks.
 * Each rank multiplies powers of its rows by those of the columns: the generator is linear.
 */
export async function randomRows(xp: Arrays, { seed, first, rows, columns, partition }: RandomRows): Promise<NdArray> {
  const row = Array.from({ length: rows }, (_, at) => power(BigInt(first + at * columns)))
  const column = Array.from({ length: columns }, () => 0n)
  let last = BigInt(seed)
  for (const at of column.keys()) column[at] = last = (MULTIPLIER * last) % MODULUS
  const [a1, a2] = halves(xp, row).map((half) => xp.asarray(xp.reshape(half, [rows, 1]), { copy: true, partition }))
  const [b1, b2] = halves(xp, column)
  // A product of 46 bits by 46, of which the lower 46 are kept: no step has more than 53.
  // Each step is computed where all ranks can wait for it: long chains are computed at once, which blocks.
  const middle = await modulo(a1!.multiply(b2!).add(a2!.multiply(b1!)), 2 ** 23)
  return await modulo(middle.multiply(2 ** 23).add(a2!.multiply(b2!)), 2 ** 46)
}

interface RandomRows {
  readonly seed: number
  readonly first: number
  readonly rows: number
  readonly columns: number
  readonly partition: Division
}

/** The upper and the lower 23 bits. */
function halves(xp: Arrays, values: readonly bigint[]): NdArray[] {
  return [values.map((value) => Number(value >> 23n)), values.map((value) => Number(value & 0x7fffffn))].map((half) =>
    xp.asarray(half),
  )
}

function modulo(x: NdArray, divisor: number): NdArray {
  return x.subtract(
    x
      .multiply(1 / divisor)
      .floor()
      .multiply(divisor),
  )
}

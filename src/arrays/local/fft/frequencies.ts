import { type Block, newBlock } from '../../blocks/block.ts'
import { ArrayError } from '../../errors.ts'
import { type DType, float32, float64 } from '../../types/dtype.ts'

/** The distance of samples, and the data type of the result. */
export interface FrequencyOptions {
  readonly d?: number | bigint
  readonly dtype?: DType | null
}

/** The frequencies of the elements of `fft`: 0, 1, …, -2, -1, divided by n d. */
export function fftfreq(n: number | bigint, options: FrequencyOptions = {}): Block {
  const length = lengthOf(n)
  return frequencies(length, length, options)
}

/** The frequencies of the elements of `rfft`: 0, 1, …, n/2, divided by n d. */
export function rfftfreq(n: number | bigint, options: FrequencyOptions = {}): Block {
  const length = lengthOf(n)
  const block = frequencies(length, Math.floor(length / 2) + 1, options)
  // The highest frequency of an even length is positive here.
  if (length % 2 === 0) block.data[length / 2] = -(block.data[length / 2] as number)
  return block
}

function frequencies(length: number, count: number, { d = 1, dtype }: FrequencyOptions): Block {
  const type = dtype ?? float64
  if (type !== float32 && type !== float64) throw new ArrayError('TYPE', `frequencies are real floating, not ${type}`)
  const step = 1 / (length * Number(d))
  const block = newBlock(type, [count])
  const { data } = block
  const positive = Math.ceil(length / 2)
  for (let k = 0; k < count; k += 1) data[k] = (k < positive ? k : k - length) * step
  return block
}

function lengthOf(n: number | bigint): number {
  const length = Number(n)
  if (Number.isInteger(length) && length >= 1) return length
  throw new ArrayError('VALUE', `n should be a positive integer, not ${n}`)
}

import { type Block, newBlock } from '../../../src/arrays/blocks/block.ts'
import { type DType, isFloating, isWide } from '../../../src/arrays/types/dtype.ts'

/** Numbers from 0 to 1, the same in every run (a linear congruential generator of 48 bits). */
export function randomNumbers(seed: number): () => number {
  let state = (BigInt(seed) << 16n) + 0x330en
  return () => {
    state = (state * 0x5deece66dn + 0xbn) & 0xffffffffffffn
    return Number(state) / 2 ** 48
  }
}

/** Floating elements from -1 to 1, integers from 0 to 9. */
export function randomBlock(dtype: DType, shape: readonly number[], seed: number): Block {
  const next = randomNumbers(seed)
  const block = newBlock(dtype, shape)
  for (let at = 0; at < block.data.length; at += 1) {
    const value = isFloating(dtype) ? 2 * next() - 1 : Math.floor(10 * next())
    block.data[at] = (isWide(dtype) ? BigInt(value) : value) as never
  }
  return block
}

import type { Block } from '../../blocks/block.ts'
import { copyOf } from '../../blocks/copying.ts'
import { ArrayError } from '../../errors.ts'
import { inv } from './elimination.ts'
import { identityStack, matmul } from './matmul.ts'
import { squareOrder, stackShape } from './matrix.ts'

/** The power of each matrix, or of its inverse if `n` is negative. */
export function matrixPower(x: Block, n: number | bigint): Block {
  const order = squareOrder(x)
  let exponent = Number(n)
  if (!Number.isSafeInteger(exponent)) throw new ArrayError('TYPE', `exponent must be an integer, not ${n}`)
  if (exponent === 0) return identityStack(stackShape(x), order, x.dtype)
  let base = exponent < 0 ? inv(x) : x
  exponent = Math.abs(exponent)
  if (exponent === 1) return copyOf(base)
  let power: Block | undefined
  for (;;) {
    if (exponent % 2 === 1) power = power === undefined ? base : matmul(power, base)
    exponent = Math.floor(exponent / 2)
    if (exponent === 0) return power!
    base = matmul(base, base)
  }
}

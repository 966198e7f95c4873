import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Block } from '../../../src/arrays/blocks/block.ts'
import { ArrayError } from '../../../src/arrays/errors.ts'
import { einsum } from '../../../src/arrays/local/einsum.ts'
import { RandomGenerator } from '../../../src/arrays/local/random/generator.ts'
import {
  bool,
  complex64,
  complex128,
  type DType,
  float32,
  float64,
  int8,
  int32,
  int64,
  uint64,
} from '../../../src/arrays/types/dtype.ts'
import { assertBlock, scattered } from '../support/blocks.ts'
import { startNumpy, withoutNumpy } from '../support/numpy.ts'

const numpy = (withoutNumpy === false ? await startNumpy() : undefined)!
after(() => numpy?.[Symbol.asyncDispose]())

const generator = new RandomGenerator(11)

function random(shape: readonly number[], dtype: DType = float64): Block {
  if (dtype === complex64 || dtype === complex128) {
    const parts = generator.random([...shape, 2], { dtype: dtype === complex64 ? float32 : float64 })
    return { ...parts, dtype, shape, strides: parts.strides.slice(0, -1).map((stride) => stride / 2) }
  }
  if (dtype === float32 || dtype === float64) return generator.standardNormal(shape, { dtype })
  return generator.integers(0, dtype === bool ? 2 : 20, shape, { dtype })
}

const cases: readonly (readonly [string, ...(readonly number[])[]])[] = [
  ['ij,jk->ik', [3, 4], [4, 5]],
  ['ij,jk', [3, 4], [4, 5]],
  ['ij,jk->ki', [3, 4], [4, 5]],
  ['bij,bjk->bik', [2, 3, 4], [2, 4, 5]],
  ['bij,bjk->ijb', [2, 3, 4], [2, 4, 5]],
  ['i,i->', [6], [6]],
  ['i,i', [6], [6]],
  ['i,j->ji', [3], [4]],
  ['ij,ij->ij', [3, 4], [3, 4]],
  ['ij,kl->jl', [3, 4], [2, 5]],
  ['ii->i', [4, 4]],
  ['ii', [4, 4]],
  ['iij,jk->ik', [3, 3, 4], [4, 2]],
  ['ijk->kji', [2, 3, 4]],
  ['ijk->j', [2, 3, 4]],
  ['ba', [2, 3]],
  ['...ij,...jk->...ik', [2, 1, 3, 4], [5, 4, 3]],
  ['...ij,...jk', [2, 3, 4], [4, 5]],
  ['i...,i...->...', [3, 2, 4], [3, 4]],
  ['...,...', [3], []],
  ['ij,jk->ik', [3, 1], [4, 5]],
  ['ij,jk->ik', [0, 4], [4, 5]],
  ['ij,jk->ik', [3, 0], [0, 5]],
  ['abc,cd,da->b', [2, 3, 4], [4, 5], [5, 2]],
  ['i,i,i->i', [5], [5], [5]],
  [' i j , j k -> k i ', [3, 4], [4, 5]],
  ['aB,Bc->ac', [2, 3], [3, 4]],
  ['zA', [2, 3]],
]

test('sums of products are those of NumPy', { skip: withoutNumpy }, async () => {
  for (const [subscripts, ...shapes] of cases) {
    const operands = shapes.map((shape) => random(shape))
    const names = ['a', 'b', 'c'].slice(0, shapes.length).join(', ')
    const [expected] = await numpy.call(`np.einsum('${subscripts}', ${names})`, operands)
    const what = `${subscripts} of ${JSON.stringify(shapes)}`
    const ours = einsum(subscripts, ...operands.map(scattered))
    assertBlock(ours, expected!, { epsilons: 8, zerosEqual: true }, what)
  }
})

test('every type, and two types that have a common one', { skip: withoutNumpy }, async () => {
  const pairs = [
    [bool, bool],
    [int8, int8],
    [int8, int32],
    [int64, int64],
    [uint64, uint64],
    [float32, float32],
    [float32, float64],
    [complex64, complex64],
    [complex128, float64],
    [float32, complex64],
  ] as const
  for (const [first, second] of pairs) {
    const operands = [random([7, 30], first), random([30, 6, 2], second)]
    const [expected] = await numpy.call("np.einsum('ij,jkl->lik', a, b)", operands)
    assertBlock(
      einsum('ij,jkl->lik', operands[0]!, operands[1]!),
      expected!,
      { epsilons: 60 },
      `${first} and ${second}`,
    )
  }
})

test('subscripts and shapes that do not fit are refused', () => {
  const [a, b] = [random([2, 3]), random([3, 4])]
  const refused = (subscripts: string, operands: readonly Block[], code: string, words: RegExp): void =>
    assert.throws(
      () => einsum(subscripts, ...operands),
      (error) => error instanceof ArrayError && error.code === `ERR_AETHER_ARRAY_${code}` && words.test(error.message),
    )
  refused('ij,jk->ik', [a, a], 'SHAPE', /'j' is 3 and 2 in shapes \(2, 3\) \(2, 3\)/)
  refused('ii', [a], 'SHAPE', /collapsing index 'i' don't match: 2 != 3/)
  refused('ijk,jk', [a, b], 'VALUE', /too many subscripts for operand 0/)
  refused('i,jk', [a, b], 'VALUE', /more dimensions than subscripts/)
  refused('ij', [a, b], 'VALUE', /more operands provided/)
  refused('ij,jk,k', [a, b], 'VALUE', /fewer operands provided/)
  refused('ij,jk->im', [a, b], 'VALUE', /'m' which never appeared/)
  refused('ij,jk->iik', [a, b], 'VALUE', /'i' multiple times/)
  refused('i1,jk', [a, b], 'VALUE', /invalid subscript in 'i1'/)
  refused('......,jk', [a, b], 'VALUE', /invalid subscript/)
  refused('...j,jk->k', [a, b], 'VALUE', /output has no '\.\.\.'/)
  refused('ij', [], 'VALUE', /at least one operand/)
  refused('ij,jk->ik', [a, random([3, 4], int32)], 'TYPE', /float64 and int32/)
})

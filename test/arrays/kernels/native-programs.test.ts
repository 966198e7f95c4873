import assert from 'node:assert/strict'
import test from 'node:test'
import { type Block, blockOver, newBlock, sizeOf } from '../../../src/arrays/blocks/block.ts'
import { permute } from '../../../src/arrays/blocks/layout.ts'
import { kernels } from '../../../src/arrays/kernels/call.ts'
import { runNatively } from '../../../src/arrays/kernels/native.ts'
import { OPERATIONS, resultOf } from '../../../src/arrays/kernels/operations.ts'
import type { Program, Step } from '../../../src/arrays/kernels/program.ts'
import { runByTwins } from '../../../src/arrays/kernels/run-program.ts'
import {
  bool,
  complex64,
  complex128,
  DTYPES,
  type DType,
  float32,
  float64,
  int32,
  isComplex,
  isFloating,
  isWide,
  realOf,
} from '../../../src/arrays/types/dtype.ts'
import { randomNumbers } from '../support/random-block.ts'

const types = Object.values(DTYPES)
const skip = kernels() === undefined && 'there is no addon with kernels'

/** Functions that differ from the twin by some units in the last place; all others give the same bits. */
const ULP: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    'acos acosh asin asinh atan atanh cos exp expm1 log log10 log1p log2 sin tan'.split(' ').map((name) => [name, 2]),
  ),
  ...Object.fromEntries('cosh sinh tanh pow hypot logaddexp atan2'.split(' ').map((name) => [name, 4])),
}

const special = [0, -0, 1, -1, 0.5, -0.5, 2.5, -3.5, 1e-320, -5e-324, 1e-18, 709.5, -745, 1e15, -1e22, 1e300, -1e300]
const specialReals = [...special, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN]
const specialIntegers = [
  0,
  1,
  -1,
  2,
  3,
  7,
  31,
  32,
  63,
  64,
  127,
  128,
  -128,
  255,
  65_537,
  -46_341,
  2 ** 31 - 2,
  2 ** 31 - 1,
  -(2 ** 31),
  2 ** 40 + 3,
  -(2 ** 62),
]

/** Special values first, of which each meets each if there are two operands, then random ones. */
function operand(dtype: DType, size: number, seed: number, step: number): Block {
  const next = randomNumbers(seed)
  const block = newBlock(dtype, [size])
  const values = isFloating(dtype) ? specialReals : specialIntegers
  for (let at = 0; at < block.data.length; at += 1) {
    const index = Math.floor(at / step)
    const isSpecial = at < values.length ** 2 * 2
    const random = isFloating(dtype) ? (next() - 0.5) * 10 ** Math.floor(4 * next()) : Math.floor((next() - 0.5) * 200)
    const value = isSpecial ? values[index % values.length]! : random
    const whole = dtype === bool ? Number(value > 0) : value
    block.data[at] = (isWide(dtype) ? BigInt(whole) : whole) as never
  }
  return block
}

function programOf(
  steps: readonly Step[],
  inputs: readonly Block[],
  output: Block,
  constants: Program['constants'] = [],
): Program {
  const register = inputs.length + constants.length + steps.length - 1
  return { shape: output.shape, inputs, constants, steps, outputs: [{ register, block: output }] }
}

/** How far apart in units of the last place; 0 for two NaNs. */
function distance(x: number, y: number, dtype: DType): number {
  if (Object.is(x, y) || (Number.isNaN(x) && Number.isNaN(y))) return 0
  if (!Number.isFinite(x) || !Number.isFinite(y)) return Number.POSITIVE_INFINITY
  if (x === y) return 0.5
  const least = realOf(dtype) === float32 ? 2 ** -149 : 2 ** -1074
  const digits = realOf(dtype) === float32 ? 23 : 52
  return Math.abs(x - y) / Math.max(least, 2 ** (Math.floor(Math.log2(Math.max(Math.abs(x), Math.abs(y)))) - digits))
}

function assertSame(native: Block, twin: Block, ulp: number, name: string): void {
  for (let at = 0; at < native.data.length; at += 1) {
    const [x, y] = [native.data[at], twin.data[at]]
    const isFar = typeof x === 'number' ? distance(x, y as number, native.dtype) > ulp : x !== y
    if (isFar) assert.fail(`${name}, element ${at}: native ${x}, twin ${y}`)
  }
}

/** Runs a program natively and by twins, and compares. Returns whether there are kernels for it. */
function compare(
  make: (output: Block) => Program,
  dtype: DType,
  shape: readonly number[],
  ulp: number,
  name: string,
): boolean {
  const native = newBlock(dtype, shape)
  if (!runNatively(make(native))) return false
  const twin = newBlock(dtype, shape)
  runByTwins(make(twin))
  assertSame(native, twin, ulp, name)
  return true
}

test('every native kernel gives the bits of its twin, or is within its bound', { skip }, () => {
  const size = 1500
  let count = 0
  for (const operation of OPERATIONS.values())
    for (const from of types) {
      if (!operation.kinds.has(from.kind)) continue
      const to = resultOf(operation, from)
      const condition = operand(bool, size, 3, 1)
      const operands = [1, 24].slice(0, operation.operands).map((step, index) => operand(from, size, index, step))
      const inputs =
        operation.operands === 3 ? [condition, operand(from, size, 0, 1), operand(from, size, 1, 24)] : operands
      const step = { operation: operation.name, from, to, operands: inputs.map((_, index) => index) }
      const bound = isFloating(from)
        ? (ULP[operation.name] ?? (isComplex(from) && operation.name === 'abs' ? 2 : 0))
        : 0
      const made = (output: Block): Program => programOf([step], inputs, output)
      if (compare(made, to, [size], bound, `${operation.name} of ${from}`)) count += 1
      else assert.ok(isComplex(from), `${operation.name} of ${from} has no native kernel`)
    }
  assert.ok(count > 400, `${count} kernels`)
})

test('casts between all types give the bits of their twins', { skip }, () => {
  const size = 900
  for (const from of types)
    for (const to of types) {
      const input = operand(from, size, 5, 1)
      const step = { operation: 'cast', from, to, operands: [0] }
      const isThere = compare((output) => programOf([step], [input], output), to, [size], 0, `cast of ${from} to ${to}`)
      assert.ok(isThere || isComplex(from), `there is no native cast of ${from} to ${to}`)
    }
})

test('a chain over views of any strides is computed as by twins', { skip }, () => {
  const next = randomNumbers(11)
  for (let round = 0; round < 60; round += 1) {
    const shape = Array.from(
      { length: 1 + Math.floor(4 * next()) },
      () => 1 + Math.floor(next() * (round % 3 === 0 ? 40 : 7)),
    )
    const input = (): Block => {
      const own = shape.map((extent) => (next() < 0.2 ? 1 : extent))
      const order = own.map((_, axis) => axis).sort(() => next() - 0.5)
      const dense = operand(float64, sizeOf(own), round, 1)
      const permuted = permute(
        blockOver(
          dense.data,
          float64,
          order.map((axis) => own[axis]!),
        ),
        own.map((_, axis) => order.indexOf(axis)),
      )
      if (next() < 0.5) return permuted
      const last = own.length - 1
      const stride = permuted.strides[last]!
      return {
        ...permuted,
        strides: permuted.strides.with(last, -stride),
        offset: stride * (own[last]! - 1),
      }
    }
    const inputs = [input(), input()]
    const steps: Step[] = [
      { operation: 'multiply', from: float64, to: float64, operands: [0, 2] },
      { operation: 'greater', from: float64, to: bool, operands: [4, 1] },
      { operation: 'add', from: float64, to: float64, operands: [4, 1] },
      { operation: 'where', from: float64, to: float64, operands: [5, 6, 3] },
      { operation: 'cast', from: float64, to: int32, operands: [7] },
    ]
    const constants = [
      { dtype: float64, value: 2 },
      { dtype: float64, value: -1.5 },
    ]
    assert.ok(compare((output) => programOf(steps, inputs, output, constants), int32, shape, 0, `shape ${shape}`))
  }
})

test('a large program on several threads, and one with several outputs of which one is an input', { skip }, () => {
  const size = 1_200_000
  const x = operand(float64, size, 7, 1)
  const steps: Step[] = [
    { operation: 'add', from: float64, to: float64, operands: [0, 1] },
    { operation: 'multiply', from: float64, to: float64, operands: [2, 0] },
  ]
  const run = (runner: (program: Program) => unknown): Block[] => {
    const [own, other] = [blockOver(x.data.slice() as never, float64, [size]), newBlock(float64, [size])]
    const outputs = [
      { register: 2, block: other },
      { register: 3, block: own },
    ]
    runner({ shape: [size], inputs: [own], constants: [{ dtype: float64, value: 1 }], steps, outputs })
    return [own, other]
  }
  const [native, twin] = [run(runNatively), run(runByTwins)]
  for (const [index, block] of native.entries()) assertSame(block, twin[index]!, 0, `output ${index}`)
})

test('large results of operands in rows, in columns and broadcast are those of the twins', { skip }, () => {
  const shape = [401, 333]
  const size = sizeOf(shape)
  const turned = (dtype: DType): Block =>
    permute(blockOver(operand(dtype, size, 5, 1).data, dtype, shape.toReversed()), [1, 0])
  for (const dtype of [float64, float32, DTYPES.uint8, DTYPES.int16, complex128]) {
    const backwards = { ...turned(dtype), strides: [-1, 401], offset: 400 }
    const inputs: Block[] = [
      blockOver(operand(dtype, size, 3, 0).data, dtype, shape),
      turned(dtype),
      backwards,
      operand(dtype, 333, 4, 1),
      { ...operand(dtype, 401, 6, 1), shape: [401, 1], strides: [1, 0] },
    ]
    const plus = (first: number, second: number): Step => ({
      operation: 'add',
      from: dtype,
      to: dtype,
      operands: [first, second],
    })
    const chains: Step[][] = [[plus(0, 0)], [plus(0, 1)], [plus(2, 1)], [plus(3, 4), plus(5, 2), plus(6, 0)]]
    for (const operation of isFloating(dtype) ? ['subtract', 'multiply', 'divide'] : [])
      chains.push([{ operation, from: dtype, to: dtype, operands: [0, 3] }])
    chains.push([{ operation: 'negative', from: dtype, to: dtype, operands: [2] }])
    for (const steps of chains) {
      const run = (runner: (program: Program) => unknown): Block => {
        // Not at the start, so that no vector is where the processor likes it.
        const output = { ...newBlock(dtype, [size + 3]), shape, strides: [333, 1], offset: 3 }
        const register = inputs.length + steps.length - 1
        runner({ shape, inputs, constants: [], steps, outputs: [{ register, block: output }] })
        return blockOver(output.data, dtype, [size + 3])
      }
      assertSame(run(runNatively), run(runByTwins), 0, `${dtype}: ${steps.map(({ operation }) => operation)}`)
    }
  }
})

test('short rows of a large array are read one after another', { skip }, () => {
  const shape = [3, 7000, 5]
  const x = permute(blockOver(operand(float64, sizeOf(shape), 5, 1).data, float64, [7000, 5, 3]), [2, 0, 1])
  const inputs: Block[] = [x, { ...operand(float64, 7000, 6, 1), shape: [7000, 1], strides: [1, 0] }]
  const steps: Step[] = [{ operation: 'add', from: float64, to: float64, operands: [0, 1] }]
  assert.ok(compare((output) => programOf(steps, inputs, output, []), float64, shape, 0, 'short rows'))
})

test('a twin does not write an output over an input that is read later', () => {
  const program = (registers: readonly [number, number]): number[][] => {
    const own = blockOver(Float64Array.of(1, 2, 3), float64, [3])
    const other = newBlock(float64, [3])
    const steps: Step[] = [
      { operation: 'add', from: float64, to: float64, operands: [0, 1] },
      { operation: 'multiply', from: float64, to: float64, operands: [2, 0] },
    ]
    const outputs = [own, other].map((block, index) => ({ register: registers[index]!, block }))
    runByTwins({ shape: [3], inputs: [own], constants: [{ dtype: float64, value: 1 }], steps, outputs })
    return [own, other].map(({ data }) => [...data].map(Number))
  }
  assert.deepEqual(program([2, 3]), [
    [2, 3, 4],
    [2, 6, 12],
  ])
  assert.deepEqual(program([3, 2]), [
    [2, 6, 12],
    [2, 3, 4],
  ])
})

test('special complex numbers are those of the standard', () => {
  const { NaN: nan, POSITIVE_INFINITY: inf } = Number
  const cases: readonly [operation: string, operand: readonly number[], result: readonly number[]][] = [
    ['tanh', [1, inf], [nan, nan]],
    ['tanh', [-30, inf], [nan, nan]],
    ['tanh', [30, nan], [nan, nan]],
    ['tanh', [0, inf], [0, nan]],
    ['tanh', [0, nan], [0, nan]],
    ['tanh', [inf, inf], [1, 0]],
    ['tanh', [inf, 2], [1, 0]],
    ['tanh', [-inf, -2], [-1, -0]],
    ['atanh', [nan, -1e153], [nan, nan]],
    ['atanh', [nan, inf], [0, Math.PI / 2]],
    ['expm1', [-0, 0], [0, 0]],
    ['expm1', [0, 0], [0, 0]],
    ['expm1', [0, -0], [0, -0]],
    ['expm1', [inf, 0], [inf, 0]],
    ['expm1', [-inf, 0], [-1, 0]],
    ['expm1', [1, inf], [nan, nan]],
  ]
  for (const [operation, parts, expected] of cases) {
    const output = newBlock(complex128, [])
    const step = { operation, from: complex128, to: complex128, operands: [0] }
    runByTwins(programOf([step], [blockOver(Float64Array.from(parts), complex128, [])], output))
    assert.deepEqual([...output.data], expected, `${operation}(${parts})`)
  }
})

test('complex numbers and constants of every type', { skip }, () => {
  for (const dtype of types) {
    const value = dtype === bool ? true : isComplex(dtype) ? { re: 1.5, im: -2 } : isWide(dtype) ? 5n : 7
    const step = { operation: 'equal', from: dtype, to: bool, operands: [0, 1] }
    const make = (output: Block): Program => programOf([step], [operand(dtype, 50, 1, 1)], output, [{ dtype, value }])
    assert.ok(compare(make, bool, [50], 0, String(dtype)))
  }
  const step = { operation: 'multiply', from: complex64, to: complex64, operands: [0, 1] }
  const inputs = [operand(complex64, 2000, 1, 1), operand(complex64, 2000, 2, 3)]
  assert.ok(compare((output) => programOf([step], inputs, output), complex64, [2000], 0, 'complex product'))
})

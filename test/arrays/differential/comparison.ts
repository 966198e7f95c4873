import assert from 'node:assert/strict'
import type { Block } from '../../../src/arrays/blocks/block.ts'
import { isComplexNumber } from '../../../src/arrays/types/complex.ts'
import { DTYPES, type DType } from '../../../src/arrays/types/dtype.ts'
import { assertBlock, type Closeness } from '../support/blocks.ts'
import type { Numpy } from '../support/numpy.ts'
import type { Draw } from './draw.ts'

/** How a function is compared with NumPy's. */
export interface Comparison {
  /** Lists of arguments as the function on blocks takes them, the options last. */
  readonly calls: (draw: Draw) => Iterable<readonly unknown[]>
  /**
   * NumPy's name if it has another, or its expression made of the arguments' texts: blocks are `a`, `b`, …, and options
   * come as one text, `axis=0, keepdims=True`.
   */
  readonly numpy?: string | ((...texts: string[]) => string)
  readonly closeness?: Closeness
  /** Judges the result instead of comparing it: for functions whose result is not the only right one. */
  readonly check?: (judge: Judge) => Promise<void>
}

export interface Judge {
  readonly numpy: Numpy
  readonly arguments: readonly unknown[]
  readonly result: readonly Block[]
}

export type Comparisons = Readonly<Record<string, Comparison>>

/** Runs all calls of one comparison. Returns how many there were. */
export async function compare(
  name: string,
  call: (...operands: unknown[]) => unknown,
  comparison: Comparison,
  draw: Draw,
  numpy: Numpy,
): Promise<number> {
  let calls = 0
  for (const operands of comparison.calls(draw)) {
    calls += 1
    const blocks: Block[] = []
    const texts = operands.map((operand) => pythonText(operand, blocks))
    const expression = expressionOf(name, comparison, texts)
    const what = `${expression} of ${blocks.map(({ dtype, shape }) => `${dtype}(${shape})`).join(', ')}`
    const before = blocks.map((block) => block.data.slice())
    let result: Block[]
    try {
      result = blocksOf(call(...operands))
    } catch (error) {
      throw new Error(`${what} threw ${error}`, { cause: error })
    }
    for (const [index, block] of blocks.entries()) {
      assert.deepEqual(block.data, before[index], `${what} changed its operand ${index}`)
    }
    if (comparison.check !== undefined) {
      await comparison.check({ numpy, arguments: operands, result })
      continue
    }
    const expected = await numpy.call(expression, blocks)
    assert.equal(result.length, expected.length, `${what}: number of results`)
    for (const [index, block] of expected.entries()) {
      assertBlock(result[index]!, block, comparison.closeness, `result ${index} of ${what}`)
    }
  }
  return calls
}

function expressionOf(name: string, { numpy }: Comparison, texts: string[]): string {
  if (typeof numpy === 'function') return numpy(...texts)
  return `np.${numpy ?? name}(${texts.filter((text) => text !== '').join(', ')})`
}

/** The blocks in a result: itself, of a list, or of a record in its order. */
function blocksOf(result: unknown): Block[] {
  if (isBlock(result)) return [result]
  return Object.values(result as object).flatMap(blocksOf)
}

export function isBlock(value: unknown): value is Block {
  return typeof value === 'object' && value !== null && 'dtype' in value && 'strides' in value
}

/** An argument as Python writes it. A block takes the next letter, and is added to `blocks`. */
function pythonText(value: unknown, blocks: Block[]): string {
  if (isBlock(value)) return String.fromCharCode(96 + blocks.push(value))
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'number') return numberText(value)
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `(${value.map((part) => `${pythonText(part, blocks)},`).join(' ')})`
  if (isComplexNumber(value)) return `complex(${numberText(value.re)}, ${numberText(value.im)})`
  if (isDType(value)) return `np.dtype('${value.name}')`
  const options = Object.entries(value as object).map(([key, part]) => `${snake(key)}=${pythonText(part, blocks)}`)
  return options.join(', ')
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return 'np.nan'
  if (!Number.isFinite(value)) return value > 0 ? 'np.inf' : '-np.inf'
  return Object.is(value, -0) ? '-0.0' : String(value)
}

function isDType(value: unknown): value is DType {
  return Object.values(DTYPES).includes(value as DType)
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

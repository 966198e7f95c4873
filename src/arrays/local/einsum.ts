import { type Block, newBlock, newResult, sizeOf } from '../blocks/block.ts'
import { contiguous } from '../blocks/copying.ts'
import { reshapeView } from '../blocks/layout.ts'
import { ArrayError, shapeText } from '../errors.ts'
import { runProgram } from '../kernels/run-program.ts'
import { bool, type DType, isWide } from '../types/dtype.ts'
import { promote } from '../types/promotion.ts'
import { matmul } from './linalg/matmul.ts'
import { sum } from './statistics.ts'

/**
 * An operand whose axes have labels, each its own. A letter is a label; the axes of an ellipsis are `.0`, `.1`, … from
 * the last on, so that operands of different numbers of axes meet as in broadcasting.
 */
interface Labelled {
  readonly block: Block
  readonly labels: readonly string[]
}

/**
 * Sums of products along labelled axes, as NumPy's `einsum`: `'ij,jk->ik'`. Operands are multiplied from the left, two
 * at a time, each time as a product of stacks of matrices.
 */
export function einsum(subscripts: string, ...arrays: Block[]): Block {
  const { inputs, output } = subscriptsOf(subscripts, arrays)
  const operands = arrays.map((block, index) => diagonalOf(block, inputs[index]!))
  checkExtents(operands, arrays)
  const [first, ...others] = operands.map((operand, index) =>
    // A label of this operand alone is summed at once.
    keepOnly(
      operand,
      (label) => output.includes(label) || operands.some((other, at) => at !== index && other.labels.includes(label)),
    ),
  )
  let product = first!
  others.forEach((other, index) => {
    const later = others.slice(index + 1)
    const isWanted = (label: string): boolean =>
      output.includes(label) || later.some(({ labels }) => labels.includes(label))
    product = multiply(product, other, isWanted)
  })
  return ordered(product, output)
}

interface Subscripts {
  readonly inputs: readonly (readonly string[])[]
  readonly output: readonly string[]
}

/** The labels of each operand's axes, and those of the result. @throws ArrayError */
export function subscriptsOf(subscripts: string, arrays: readonly Pick<Block, 'shape'>[]): Subscripts {
  const text = subscripts.replace(/\s/g, '')
  const [left = '', right] = text.split('->')
  const terms = left.split(',')
  if (arrays.length === 0)
    throw new ArrayError('VALUE', 'must specify the einstein sum subscripts string and at least one operand')
  if (terms.length !== arrays.length)
    throw new ArrayError(
      'VALUE',
      `${terms.length < arrays.length ? 'more' : 'fewer'} operands provided to einstein sum function than specified in the ` +
        `subscripts string '${subscripts}'`,
    )
  const inputs = terms.map((term, index) => labelsOf(term, arrays[index]!.shape.length, `operand ${index}`))
  return { inputs, output: right === undefined ? impliedOutput(inputs) : givenOutput(right, inputs) }
}

/** One label for each axis. */
function labelsOf(term: string, axes: number, whose: string): string[] {
  const parts = term.split('...')
  if (parts.length > 2 || parts.some((part) => !/^[A-Za-z]*$/.test(part)))
    throw new ArrayError(
      'VALUE',
      `invalid subscript in '${term}' of einstein sum; letters and one ellipsis '...' may stand there`,
    )
  const letters = parts.join('').length
  if (letters > axes)
    throw new ArrayError(
      'VALUE',
      `einstein sum subscripts string contains too many subscripts for ${whose}: '${term}' for ${axes}`,
    )
  if (parts.length === 1 && letters < axes)
    throw new ArrayError(
      'VALUE',
      `operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to broadcast the ` +
        `extra dimensions: '${term}' for ${axes}`,
    )
  return [...parts[0]!, ...ellipsisLabels(axes - letters), ...(parts[1] ?? '')]
}

function ellipsisLabels(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `.${count - 1 - index}`)
}

/** The axes of ellipses, then labels that stand once, in the order of the alphabet. */
function impliedOutput(inputs: readonly (readonly string[])[]): string[] {
  const all = inputs.flat()
  const once = all.filter((label) => !label.startsWith('.') && all.indexOf(label) === all.lastIndexOf(label))
  return [...ellipsisLabels(ellipsisAxes(inputs)), ...once.sort()]
}

function givenOutput(term: string, inputs: readonly (readonly string[])[]): string[] {
  const letters = term.replace('...', '')
  const dots = term.includes('...') ? ellipsisAxes(inputs) : 0
  if (dots === 0 && ellipsisAxes(inputs) > 0)
    throw new ArrayError('VALUE', `output has no '...' for the axes that the operands have by an ellipsis: '->${term}'`)
  const output = labelsOf(term, letters.length + dots, 'the output')
  for (const label of output) {
    if (output.indexOf(label) !== output.lastIndexOf(label))
      throw new ArrayError(
        'VALUE',
        `einstein sum subscripts string includes output subscript '${label}' multiple times`,
      )
    if (!inputs.some((labels) => labels.includes(label)))
      throw new ArrayError(
        'VALUE',
        `einstein sum subscripts string included output subscript '${label}' which never appeared in an input`,
      )
  }
  return output
}

function ellipsisAxes(inputs: readonly (readonly string[])[]): number {
  return Math.max(0, ...inputs.map((labels) => labels.filter((label) => label.startsWith('.')).length))
}

/** A view in which axes of one label are one axis, along the diagonal. */
function diagonalOf(block: Block, labels: readonly string[]): Labelled {
  const own = [...new Set(labels)]
  const axesOf = (label: string): number[] => labels.flatMap((one, axis) => (one === label ? [axis] : []))
  const shape = own.map((label) => {
    const extents = axesOf(label).map((axis) => block.shape[axis]!)
    if (extents.some((extent) => extent !== extents[0]))
      throw new ArrayError(
        'SHAPE',
        `dimensions in single operand for collapsing index '${label}' don't match: ${extents.join(' != ')}`,
      )
    return extents[0]!
  })
  const strides = own.map((label) => axesOf(label).reduce((sum, axis) => sum + block.strides[axis]!, 0))
  return { block: { ...block, shape, strides }, labels: own }
}

/** A label has one extent everywhere, but that 1 is stretched. */
function checkExtents(operands: readonly Labelled[], arrays: readonly Block[]): void {
  const extents = new Map<string, number>()
  for (const { block, labels } of operands)
    labels.forEach((label, axis) => {
      const known = extents.get(label) ?? 1
      const extent = block.shape[axis]!
      if (known !== 1 && extent !== 1 && known !== extent)
        throw new ArrayError(
          'SHAPE',
          `operands could not be broadcast together: '${label}' is ${known} and ${extent} in shapes ` +
            arrays.map(({ shape }) => shapeText(shape)).join(' '),
        )
      extents.set(label, known === 1 ? extent : known)
    })
}

/** The sum along all labels that are not wanted. */
function keepOnly(operand: Labelled, isWanted: (label: string) => boolean): Labelled {
  const wanted = operand.labels.filter(isWanted)
  const others = operand.labels.filter((label) => !isWanted(label))
  if (others.length === 0) return operand
  const rows = grouped(operand, [wanted, others])
  const sums = matmul(rows, ones(operand.block.dtype, rows.shape[1]!))
  return {
    block: reshaped(
      sums,
      wanted.map((label) => extentOf(operand, label)),
    ),
    labels: wanted,
  }
}

/** The product of two, summed along the labels of both that are not wanted. All others are. */
function multiply(first: Labelled, second: Labelled, isWanted: (label: string) => boolean): Labelled {
  const shared = first.labels.filter((label) => second.labels.includes(label))
  const stacked = shared.filter(isWanted)
  const summed = shared.filter((label) => !isWanted(label))
  const left = first.labels.filter((label) => !shared.includes(label))
  const right = second.labels.filter((label) => !shared.includes(label))
  const extents = shared.map((label) => [label, Math.max(extentOf(first, label), extentOf(second, label))] as const)
  const isEmpty = shared.filter((label) => extentOf(first, label) === 0 || extentOf(second, label) === 0)
  const common = new Map(extents.map(([label, extent]) => [label, isEmpty.includes(label) ? 0 : extent]))
  const one = stretched(first, common)
  const other = stretched(second, common)
  if (stacked.length > 0 && left.length === 0 && right.length === 0 && first.block.dtype !== bool)
    return { block: summedProducts(one, other, stacked, summed), labels: stacked }
  const stacks = stacked.map((label) => [label])
  const product = matmul(grouped(one, [...stacks, left, summed]), grouped(other, [...stacks, summed, right]))
  const shape = [
    ...stacked.map((label) => common.get(label)!),
    ...left.map((label) => extentOf(first, label)),
    ...right.map((label) => extentOf(second, label)),
  ]
  return { block: reshaped(product, shape), labels: [...stacked, ...left, ...right] }
}

/** Of elements at the same indices, where a stack of products of one row and one column would take longer. */
function summedProducts(first: Labelled, second: Labelled, kept: readonly string[], summed: readonly string[]): Block {
  const [one, other] = [first, second].map((operand) => ordered(operand, [...kept, ...summed])) as [Block, Block]
  const dtype = promote(one.dtype, other.dtype)
  const products = newResult(dtype, one.shape)
  runProgram({
    shape: one.shape,
    inputs: [one, other],
    constants: [],
    steps: [
      { operation: 'cast', from: one.dtype, to: dtype, operands: [0] },
      { operation: 'cast', from: other.dtype, to: dtype, operands: [1] },
      { operation: 'multiply', from: dtype, to: dtype, operands: [2, 3] },
    ],
    outputs: [{ register: 4, block: products }],
  })
  if (summed.length === 0) return products
  return sum(products, { axis: summed.map((_, at) => kept.length + at), dtype })
}

function extentOf({ block, labels }: Labelled, label: string): number {
  return block.shape[labels.indexOf(label)]!
}

/** A view in which an axis of extent 1 repeats where another operand has more. */
function stretched({ block, labels }: Labelled, extents: ReadonlyMap<string, number>): Labelled {
  const shape = labels.map((label, axis) => extents.get(label) ?? block.shape[axis]!)
  const strides = block.strides.map((stride, axis) => (block.shape[axis] === 1 ? 0 : stride))
  return { block: { ...block, shape, strides }, labels }
}

/** The axes in another order, those of a group as one. */
function grouped(operand: Labelled, groups: readonly (readonly string[])[]): Block {
  const block = ordered(operand, groups.flat())
  return reshaped(
    block,
    groups.map((labels) => sizeOf(labels.map((label) => extentOf(operand, label)))),
  )
}

function ordered({ block, labels }: Labelled, order: readonly string[]): Block {
  const axes = order.map((label) => labels.indexOf(label))
  return { ...block, shape: axes.map((axis) => block.shape[axis]!), strides: axes.map((axis) => block.strides[axis]!) }
}

function reshaped(block: Block, shape: readonly number[]): Block {
  return reshapeView(block, shape) ?? reshapeView(contiguous(block), shape)!
}

function ones(dtype: DType, length: number): Block {
  const block = newBlock(dtype, [length])
  const { data } = block
  for (let at = 0; at < data.length; at += dtype.lanes) data[at] = isWide(dtype) ? 1n : 1
  return block
}

import { type Block, newResult, sizeOf } from '../blocks/block.ts'
import { contiguous, copyOf } from '../blocks/copying.ts'
import { axisOf, permute, reshapeView } from '../blocks/layout.ts'
import { type Words, wordsOf } from '../blocks/words.ts'

/** A block whose lines along one axis lie one after another, each in neighbouring elements. */
export interface Lines {
  readonly block: Block
  /** Elements of a line, and how many lines there are. */
  readonly length: number
  readonly count: number
  /** A block in the order of `block`, in row-major order with the axes as they were. */
  readonly restore: (lines: Block) => Block
}

/** The lines of a block along an axis, without a copy if they lie so already. */
export function linesOf(block: Block, axis: number): Lines {
  const position = axisOf(axis, block.shape.length)
  const last = block.shape.length - 1
  const length = block.shape[position]!
  const count = length === 0 ? 0 : sizeOf(block.shape) / length
  if (position === last) return { block: contiguous(block), length, count, restore: (lines) => lines }
  const order = block.shape.map((_, index) => index)
  const toLast = [...order.toSpliced(position, 1), position]
  const back = order.map((index) => toLast.indexOf(index))
  const restore = (lines: Block): Block => copyOf(permute(lines, back))
  return { block: contiguous(permute(block, toLast)), length, count, restore }
}

/** A view or a copy with one axis, in row-major order. */
export function flattened(x: Block): Block {
  return reshapeView(x, [sizeOf(x.shape)]) ?? reshapeView(contiguous(x), [sizeOf(x.shape)])!
}

/** The positions of an axis that are asked for, in row-major order. */
export function takeAlong(block: Block, axis: number, positions: Uint32Array): Block {
  const { block: lines, length, restore } = linesOf(block, axis)
  const shape = lines.shape.with(-1, positions.length)
  return restore(takeRows(lines, length, positions, shape, true))
}

/**
 * The elements of a contiguous block at positions within each row of `length` neighbours. All rows have as many, one
 * row's after the other's, or share the same ones.
 */
export function takeRows(
  block: Block,
  length: number,
  positions: Uint32Array,
  shape: readonly number[],
  areShared = false,
): Block {
  const result = newResult(block.dtype, shape)
  const rows = length === 0 ? 0 : sizeOf(block.shape) / length
  const perRow = rows === 0 ? 0 : positions.length / (areShared ? 1 : rows)
  const { words: from, each } = wordsOf(block.data, block.dtype)
  const { words: to } = wordsOf(result.data, result.dtype)
  for (let row = 0; row < rows; row += 1) {
    const own = areShared ? positions : positions.subarray(row * perRow, (row + 1) * perRow)
    moveRow(from, block.offset + row * length, to, row * perRow, own, each)
  }
  return result
}

function moveRow(
  from: Words['words'],
  start: number,
  to: Words['words'],
  at: number,
  positions: Uint32Array,
  each: number,
): void {
  const count = positions.length
  if (each === 1) {
    for (let index = 0; index < count; index += 1) to[at + index] = from[start + positions[index]!]!
  } else if (each === 2) {
    for (let index = 0; index < count; index += 1) {
      const place = 2 * (start + positions[index]!)
      const target = 2 * (at + index)
      to[target] = from[place]!
      to[target + 1] = from[place + 1]!
    }
  } else
    for (let index = 0; index < count; index += 1) {
      const place = each * (start + positions[index]!)
      const target = each * (at + index)
      for (let word = 0; word < each; word += 1) to[target + word] = from[place + word]!
    }
}

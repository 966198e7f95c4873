import { type Block, blockOver, newBlock, rowMajor, sizeOf } from '../blocks/block.ts'
import { contiguous, copyOf, elementsOf } from '../blocks/copying.ts'
import { permute, withoutAxes } from '../blocks/layout.ts'
import { joinPieces, PIECE, type Reduction, wordsOf } from '../local/reduction.ts'
import { cutAxis, wholeAxis } from '../partitions/axis-partition.ts'
import { Partition } from '../partitions/partition.ts'
import { type DType, type Elements, isWide } from '../types/dtype.ts'
import { redistribute } from './redistribution.ts'
import type { Steps } from './steps.ts'
import type { Team } from './team.ts'

/** Rows of elements of which each rank has whole pieces: `own` has two axes. Each column becomes one element. */
export interface AlignedRows {
  readonly own: Block
  /** How many pieces each rank has, in order. */
  readonly pieces: readonly number[]
}

/** Are the rows of the ranks behind each other: is only the first axis divided, into blocks? */
export function isInRows({ axes, ranks }: Partition): boolean {
  const [first, ...others] = axes
  return first?.kind === 'cuts' && first.parts === ranks.length && others.every(({ kind }) => kind === 'whole')
}

/** All elements as one column. Each piece comes to the rank with its first element: less than one a rank moves. */
export function* alignedColumn(team: Team, own: Block, from: Partition): Steps<AlignedRows> {
  const width = sizeOf(from.shape.slice(1))
  const column = contiguous(own)
  return yield* aligned(team, { ...column, ...flatShape(sizeOf(own.shape), 1) }, from, width, 1)
}

/** The rows as they are. */
export function* alignedRows(team: Team, own: Block, from: Partition): Steps<AlignedRows> {
  const width = sizeOf(from.shape.slice(1))
  const rows = contiguous(own)
  return yield* aligned(team, { ...rows, ...flatShape(own.shape[0]!, width) }, from, 1, width)
}

function flatShape(height: number, width: number): Pick<Block, 'shape' | 'strides'> {
  return { shape: [height, width], strides: rowMajor([height, width]) }
}

/** Each row of the array is `factor` rows here. */
function* aligned(team: Team, own: Block, from: Partition, factor: number, width: number): Steps<AlignedRows> {
  const [first] = from.axes
  if (first?.kind !== 'cuts') throw new TypeError('the rows of the ranks do not lie behind each other')
  const length = first.extent * factor
  const cuts = first.cuts.map((cut) => cut * factor)
  const wholeCuts = cuts.map((cut) => Math.min(length, Math.ceil(cut / PIECE) * PIECE))
  const inRows = (each: readonly number[]): Partition => new Partition([cutAxis(each), wholeAxis(width)], from.ranks)
  const pieces = wholeCuts.slice(1).map((cut, rank) => Math.ceil((cut - wholeCuts[rank]!) / PIECE))
  return { own: yield* redistribute(team, own, inRows(cuts), inRows(wholeCuts)), pieces }
}

/**
 * Reduces each column to one element, which every rank gets. What moves are the results of pieces. They are joined in
 * an order that depends on the number of rows alone, so the bits are those of one process. Undefined without elements.
 */
export function* reduceRows(team: Team, { own, pieces }: AlignedRows, reduction: Reduction): Steps<Block | undefined> {
  const { to } = reduction
  const width = own.shape[1]!
  const total = pieces.reduce((sum, count) => sum + count, 0)
  const collected = yield* team.collect(
    reducedPieces(own, reduction),
    pieces.map((count) => count * width * to.lanes),
  )
  if (total === 0) return undefined
  const columns = copyOf(permute(blockOver(collected as Elements, to, [total, width]), [1, 0]))
  const joined = isWide(to) ? wordsOf(columns.data) : columns.data
  for (let column = 0; column < width; column += 1) joinPieces(joined, column * total, total, reduction)
  return copyOf(withoutAxes(columns, [1]))
}

/** Each piece of each column by itself: the results of a piece lie next to each other. */
function reducedPieces(rows: Block, { to, from, piece }: Reduction): Elements {
  const [height, width] = rows.shape as [number, number]
  const pieces = Math.ceil(height / PIECE)
  const result = newBlock(to, [pieces, width])
  const target = isWide(to) ? wordsOf(result.data) : result.data
  const isSame = rows.dtype.Elements === from.Elements
  for (let at = 0; at < pieces; at += 1) {
    const start = at * PIECE
    const count = Math.min(PIECE, height - start)
    const offset = rows.offset + start * rows.strides[0]!
    const elements = elementsOf(permute({ ...rows, offset, shape: [count, width] }, [1, 0]))
    const read = isSame ? elements : converted(elements, from)
    const source = isSame && isWide(from) ? wordsOf(read) : read
    for (let column = 0; column < width; column += 1)
      piece(source, column * count, count, target, at * width + column, column)
  }
  return result.data
}

function converted(elements: Elements, to: DType): Elements {
  const result = new to.Elements(elements.length)
  ;(result as Float64Array).set(elements as Float64Array)
  return result
}

import { type Block, blockOver, newBlock, rowMajor, sizeOf } from '../blocks/block.ts'
import { contiguous, copyInto, copyOf, elementsOf } from '../blocks/copying.ts'
import { permute, withoutAxes } from '../blocks/layout.ts'
import { reduceNatively } from '../kernels/native.ts'
import { joinPieces, PIECE, type Reduction, wordsOf } from '../local/reduction.ts'
import { cutAxis, wholeAxis } from '../partitions/axis-partition.ts'
import { Partition } from '../partitions/partition.ts'
import { type DType, type Elements, isWide } from '../types/dtype.ts'
import { exchange, routeOf } from './redistribution.ts'
import type { Steps } from './steps.ts'
import type { Team } from './team.ts'

/** Rows of elements of which each rank has whole pieces. Each column becomes one element. */
export interface AlignedRows {
  /** Two axes. The rows of this rank's pieces, as they lie in its part; without those of `last`. */
  readonly own: Block
  /** The rows of its last piece, if some of them came from other ranks. */
  readonly last: Block | undefined
  /** How many pieces each rank has, in order. */
  readonly pieces: readonly number[]
}

/** Are the rows of the ranks behind each other: is only the first axis divided, into blocks? */
export function isInRows({ axes, ranks }: Partition): boolean {
  const [first, ...others] = axes
  return first?.kind === 'cuts' && first.parts === ranks.length && others.every(({ kind }) => kind === 'whole')
}

/** All elements as one column. Each piece comes to the rank with its first element: less than one a rank moves. */
export function* alignedColumn(team: Team, own: Block, from: Partition, what: string): Steps<AlignedRows> {
  const width = sizeOf(from.shape.slice(1))
  const column = { ...contiguous(own), ...flatShape(sizeOf(own.shape), 1) }
  return yield* aligned(team, column, from, what, { factor: width, width: 1 })
}

/** The rows as they are. */
export function* alignedRows(team: Team, own: Block, from: Partition, what: string): Steps<AlignedRows> {
  const width = sizeOf(from.shape.slice(1))
  const rows = { ...contiguous(own), ...flatShape(own.shape[0]!, width) }
  return yield* aligned(team, rows, from, what, { factor: 1, width })
}

function flatShape(height: number, width: number): Pick<Block, 'shape' | 'strides'> {
  return { shape: [height, width], strides: rowMajor([height, width]) }
}

/**
 * Each row of the array is `factor` rows here. Only the head of a part moves: its rows before the first piece that
 * begins in it. They go to the rank in whose part that piece begins. Begins with an agreement on `what`.
 */
function* aligned(
  team: Team,
  own: Block,
  from: Partition,
  what: string,
  { factor, width }: { readonly factor: number; readonly width: number },
): Steps<AlignedRows> {
  const [first] = from.axes
  if (first?.kind !== 'cuts') throw new TypeError('the rows of the ranks do not lie behind each other')
  const length = first.extent * factor
  const cuts = first.cuts.map((cut) => cut * factor)
  const wholeCuts = cuts.map((cut) => Math.min(length, Math.ceil(cut / PIECE) * PIECE))
  const each = <T>(compute: (rank: number) => T): T[] => from.ranks.map((_, rank) => compute(rank))
  const pieces = each((rank) => Math.ceil((wholeCuts[rank + 1]! - wholeCuts[rank]!) / PIECE))
  const heads = each((rank) => Math.min(cuts[rank + 1]!, wholeCuts[rank]!) - cuts[rank]!)
  const wanted = each((rank) => (pieces[rank]! > 0 ? wholeCuts[rank + 1]! - cuts[rank + 1]! : 0))
  const inRows = (lengths: readonly number[]): Partition =>
    new Partition([cutAxis([0, ...prefixEnds(lengths)]), wholeAxis(width)], from.ranks)
  const [given, taken] = [inRows(heads), inRows(wanted)]
  const at = from.ranks.indexOf(team.rank)
  const head = heads[at]!
  const ownHead = rowsWithin(own, 0, head)
  let came = ownHead
  if (given.equals(taken)) yield* team.agree(what)
  else came = yield* exchange(team, ownHead, routeOf(given, taken), { what })
  const height = own.shape[0]! - head
  if (wanted[at] === 0) return { own: rowsWithin(own, head, height), last: undefined, pieces }
  const begun = height % PIECE
  const last = newBlock(own.dtype, [begun + wanted[at]!, width])
  copyInto(rowsWithin(last, 0, begun), rowsWithin(own, head + height - begun, begun))
  copyInto(rowsWithin(last, begun, wanted[at]!), came)
  return { own: rowsWithin(own, head, height - begun), last, pieces }
}

function rowsWithin(rows: Block, begin: number, count: number): Block {
  return { ...rows, offset: rows.offset + begin * rows.strides[0]!, shape: [count, rows.shape[1]!] }
}

function prefixEnds(lengths: readonly number[]): number[] {
  let end = 0
  return lengths.map((length) => {
    end += length
    return end
  })
}

/**
 * Reduces each column to one element, which every rank gets. What moves are the results of pieces. They are joined in
 * an order that depends on the number of rows alone, so the bits are those of one process. Undefined without elements.
 */
export function* reduceRows(team: Team, rows: AlignedRows, reduction: Reduction): Steps<Block | undefined> {
  const { own, last, pieces } = rows
  const { to } = reduction
  const width = own.shape[1]!
  const total = pieces.reduce((sum, count) => sum + count, 0)
  const collected = yield* team.collect(
    reducedPieces(last === undefined ? [own] : [own, last], reduction),
    pieces.map((count) => count * width * to.lanes),
  )
  if (total === 0) return undefined
  const columns = copyOf(permute(blockOver(collected as Elements, to, [total, width]), [1, 0]))
  const joined = isWide(to) ? wordsOf(columns.data) : columns.data
  for (let column = 0; column < width; column += 1) joinPieces(joined, column * total, total, reduction)
  return copyOf(withoutAxes(columns, [1]))
}

/** Each piece of each column by itself: the results of a piece lie next to each other. */
function reducedPieces(parts: readonly Block[], reduction: Reduction): Elements {
  const width = parts[0]!.shape[1]!
  const stretches = parts.flatMap(stretchesOf)
  const counts = stretches.map(({ shape }) => shape[0]!)
  const result = newBlock(reduction.to, [counts.reduce((sum, count) => sum + count, 0), width])
  let first = 0
  for (const [index, stretch] of stretches.entries()) {
    const count = counts[index]!
    const into = rowsWithin(result, first, count)
    if (reduction.native === undefined || !reduceNatively(reduction.native, stretch, into))
      for (let piece = 0; piece < count; piece += 1)
        reducePiece(withoutAxes(stretch, [0], [piece]), reduction, result.data, (first + piece) * width)
    first += count
  }
  return result.data
}

/** Pieces of one length, by piece, column and row: the full ones, then a shorter one. */
function stretchesOf(rows: Block): Block[] {
  const [height, width] = rows.shape as [number, number]
  const [step, columnStep] = rows.strides as [number, number]
  const full = Math.floor(height / PIECE)
  const stretch = (first: number, count: number, length: number): Block => ({
    ...rows,
    offset: rows.offset + first * PIECE * step,
    shape: [count, width, length],
    strides: [PIECE * step, columnStep, step],
  })
  const all = full > 0 ? [stretch(0, full, PIECE)] : []
  return height % PIECE === 0 ? all : [...all, stretch(full, 1, height % PIECE)]
}

/** One piece of all columns, into elements from `at` on. */
function reducePiece(columns: Block, { to, from, piece }: Reduction, result: Elements, at: number): void {
  const [width, count] = columns.shape as [number, number]
  const elements = elementsOf(columns)
  const isSame = columns.dtype.Elements === from.Elements
  const read = isSame ? elements : converted(elements, from)
  const source = isSame && isWide(from) ? wordsOf(read) : read
  const target = isWide(to) ? wordsOf(result) : result
  for (let column = 0; column < width; column += 1) piece(source, column * count, count, target, at + column, column)
}

function converted(elements: Elements, to: DType): Elements {
  const result = new to.Elements(elements.length)
  ;(result as Float64Array).set(elements as Float64Array)
  return result
}

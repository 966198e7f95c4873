import { type Block, blockOver, isContiguous, newBlock, sizeOf } from '../blocks/block.ts'
import { copyInto, copyOf } from '../blocks/copying.ts'
import { axesOf, permute, reshapeView, withoutAxes } from '../blocks/layout.ts'
import { type Reduction as NativeReduction, reduceNatively } from '../kernels/native.ts'
import { type DType, type Elements, isWide } from '../types/dtype.ts'

export interface ReductionOptions {
  readonly axis?: number | readonly number[] | null
  readonly keepdims?: boolean
}

/** Neighbouring elements that are reduced in one piece. Where pieces begin depends on indices only, never on ranks. */
export const PIECE = 4096

/**
 * How many elements become one. 64-bit integers are read and written as 32-bit words, the lower one first: BigInts
 * are slow.
 */
export interface Reduction {
  /** The data type of the result. */
  readonly to: DType
  /** The data type in which `piece` reads elements: that of the operand, or one that holds them exactly. */
  readonly from: DType
  /** Reduces at most `PIECE` elements from `start` on to element `at` of `to`. They belong to this output. */
  readonly piece: (from: Elements, start: number, count: number, to: Elements, at: number, output: number) => void
  /** Makes element `at` of `to` what pieces at `at` and `other` are together. */
  readonly join: (to: Elements, at: number, other: number) => void
  /** The native kernel that gives the same bits. */
  readonly native?: NativeReduction
}

/** The shape of a reduction's result. */
export function reducedShape(shape: readonly number[], { axis, keepdims = false }: ReductionOptions): number[] {
  const axes = axesOf(axis, shape.length)
  if (axes.length === shape.length && !keepdims) return []
  return keepdims
    ? shape.map((extent, index) => (axes.includes(index) ? 1 : extent))
    : shape.filter((_, index) => !axes.includes(index))
}

/** How many elements become one. */
export function reducedCount(shape: readonly number[], { axis }: ReductionOptions): number {
  return sizeOf(axesOf(axis, shape.length).map((index) => shape[index]!))
}

/**
 * Reduces along axes. The elements of an output in row-major order are cut into pieces. These are joined as a binary
 * tree over their numbers: ((0 + 1) + (2 + 3)) + …
 */
export function reduce(x: Block, options: ReductionOptions, reduction: Reduction): Block {
  const result = newBlock(reduction.to, reducedShape(x.shape, options))
  const axes = axesOf(options.axis, x.shape.length)
  if (sizeOf(x.shape) === 0) return result
  const kept = x.shape.length - axes.length
  const turned = kept === 0 || axes[0] === kept ? x : permute(x, [...othersThan(axes, x.shape.length), ...axes])
  const { native } = reduction
  const isAlike = result.shape.length === kept
  const outputs = isAlike ? result : blockOver(result.data, result.dtype, turned.shape.slice(0, kept))
  if (native !== undefined && reduceNatively(native, turned, outputs)) return result
  reduceRows(turned, kept, reducedCount(x.shape, options), reduction, result.data, 0)
  return result
}

function othersThan(axes: readonly number[], count: number): number[] {
  return axesOf(null, count).filter((axis) => !axes.includes(axis))
}

/** Outputs are counted along the first axes, `kept` of them; `first` is the first one's place in the result. */
function reduceRows(
  x: Block,
  kept: number,
  count: number,
  reduction: Reduction,
  result: Elements,
  first: number,
): void {
  const outputs = sizeOf(x.shape) / count
  const rows = reshapeView(x, [outputs, count])
  if (rows !== undefined) reducePlane(rows, reduction, result, first)
  else if (kept > 1 && sizeOf(x.shape.slice(1)) > 16 * PIECE) {
    const each = outputs / x.shape[0]!
    for (let index = 0; index < x.shape[0]!; index += 1)
      reduceRows(withoutAxes(x, [0], [index]), kept - 1, count, reduction, result, first + index * each)
  } else reducePlane(blockOver(copyOf(x).data, x.dtype, [outputs, count]), reduction, result, first)
}

/** Reduces each row of a block of two axes. */
function reducePlane(rows: Block, reduction: Reduction, result: Elements, first: number): void {
  const { dtype, shape, strides, offset } = rows
  const [outputs, count] = shape as [number, number]
  const [rowStride, stride] = strides as [number, number]
  const pieces = Math.ceil(count / PIECE)
  const width = Math.min(count, PIECE)
  // Several rows at a time: if they are short, for less work around each; if they are columns, for the cache's lines.
  const rowsMax = stride === 1 && pieces > 1 ? 1 : Math.max(1, Math.floor((16 * PIECE) / width))
  const stage = stageOf(dtype, reduction.from, Math.min(outputs, rowsMax) * width)
  const partial = pieces === 1 ? result : new reduction.to.Elements(rowsMax * pieces * reduction.to.lanes)
  const target = isWide(reduction.to) ? wordsOf(partial) : partial
  for (let row = 0; row < outputs; row += rowsMax) {
    const height = Math.min(rowsMax, outputs - row)
    for (let piece = 0; piece < pieces; piece += 1) {
      const from = piece * PIECE
      const length = Math.min(PIECE, count - from)
      const part = { ...rows, shape: [height, length], offset: offset + row * rowStride + from * stride }
      const { data, start } = stage(part)
      for (let index = 0; index < height; index += 1) {
        const at = pieces === 1 ? first + row + index : index * pieces + piece
        reduction.piece(data, start + index * length, length, target, at, first + row + index)
      }
    }
    if (pieces === 1) continue
    for (let index = 0; index < height; index += 1) {
      joinPieces(target, index * pieces, pieces, reduction)
      copyElement(result, first + row + index, partial, index * pieces, reduction.to.lanes)
    }
  }
}

/** Joins neighbours, then neighbours of these, and so on. What has no neighbour waits for the next round. */
export function joinPieces(to: Elements, start: number, count: number, { join }: Pick<Reduction, 'join'>): void {
  for (let step = 1; step < count; step *= 2)
    for (let index = 0; index + step < count; index += 2 * step) join(to, start + index, start + index + step)
}

/** Brings a block's elements next to each other, as elements of the type `to`. `start` counts elements of `data`. */
type Stage = (block: Block) => { readonly data: Elements; readonly start: number }

function stageOf(dtype: DType, to: DType, size: number): Stage {
  let copy: Elements | undefined
  let converted: Elements | undefined
  const isSame = dtype.Elements === to.Elements
  const own = isSame && isWide(dtype) ? wordsOf : (elements: Elements): Elements => elements
  let read: Elements | undefined
  let words: Elements | undefined
  return (block) => {
    let { data, offset } = block
    const length = sizeOf(block.shape)
    if (!isContiguous(block)) {
      copy ??= new dtype.Elements(size * dtype.lanes)
      copyInto(blockOver(copy, dtype, block.shape), block)
      data = copy
      offset = 0
    }
    if (isSame) {
      if (data !== read) words = own(data)
      read = data
      return { data: words!, start: offset }
    }
    converted ??= new to.Elements(size)
    ;(converted as Float64Array).set(data.subarray(offset, offset + length) as Float64Array)
    return { data: converted, start: 0 }
  }
}

/** The 32-bit words of 64-bit integers, the lower one first. */
export function wordsOf(elements: Elements): Uint32Array {
  return new Uint32Array(elements.buffer, elements.byteOffset, elements.byteLength / 4)
}

function copyElement(to: Elements, at: number, from: Elements, index: number, lanes: number): void {
  for (let lane = 0; lane < lanes; lane += 1) to[at * lanes + lane] = from[index * lanes + lane] as number
}

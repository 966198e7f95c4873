import { type Block, newResult } from '../../blocks/block.ts'
import { rowsOf } from '../../blocks/copying.ts'
import { withoutAxes } from '../../blocks/layout.ts'
import type { Split } from '../../kernels/native-transforms.ts'
import { complex128, type DType, isComplex, isWide } from '../../types/dtype.ts'
import { planOf } from './plan.ts'
import { realTransform } from './real-transform.ts'

/** A transform of each line of a block along one axis. */
export interface AxisTransform {
  readonly axis: number
  /** The length of the transform: lines are cut to it, or filled up with zeros. */
  readonly length: number
  /**
   * What goes in and what comes out. `complex`: as many complex numbers. `to half`: real numbers, and the first half of
   * the complex ones. `from half`: the first half of complex numbers, and real ones.
   */
  readonly kind: 'complex' | 'to half' | 'from half'
  readonly sign: 'forward' | 'backward'
  /** All results are multiplied by it. */
  readonly factor: number
  /** The type of the result; sums are of float64 in any case. */
  readonly dtype: DType
}

export function transformAlong(block: Block, along: AxisTransform): Block {
  const { axis, length, kind, dtype } = along
  const half = (length >> 1) + 1
  const shape = [...block.shape]
  const available = shape[axis]!
  shape[axis] = kind === 'to half' ? half : length
  const result = newResult(dtype, shape)
  if (result.data.length === 0) return result
  const count = Math.min(available, kind === 'from half' ? half : length)
  const from = withoutAxes(block, [axis])
  const to = withoutAxes(result, [axis])
  const step = block.strides[axis]!
  const toStep = result.strides[axis]!
  const act = nativeLines(block, result, along) ?? splitLines(block, result, along)
  const walk = rowsOf(from.shape, [from.strides, to.strides])
  walk.each(([place = 0, toPlace = 0]) => {
    for (let index = 0; index < walk.length; index += 1) {
      const source = { place: block.offset + place + index * walk.steps[0]!, step, count }
      act(source, { place: toPlace + index * walk.steps[1]!, step: toStep, count: shape[axis]! })
    }
  })
  return result
}

/** Transforms a line of the block to one of the result. */
type LineAct = (source: Line, target: Line) => void

/** Lines of complex128 are read and written by the addon. */
function nativeLines(
  block: Block,
  result: Block,
  { axis, length, kind, sign, factor }: AxisTransform,
): LineAct | undefined {
  const isFitting = kind === 'complex' && block.dtype === complex128 && result.dtype === complex128
  if (!isFitting || block.strides[axis]! < 0) return undefined
  const { transform, line, work } = planOf(length)
  const { fromLine } = transform
  if (fromLine === undefined) return undefined
  const isBackward = sign === 'backward'
  return (from, to) => {
    const source = { numbers: block.data as Float64Array, place: from.place, step: from.step }
    const target = { numbers: result.data as Float64Array, place: to.place, step: to.step }
    fromLine({ source, count: from.count, target, factor, isBackward }, line, work)
  }
}

/** Lines of other types are copied to where the parts of numbers lie apart. */
function splitLines(block: Block, result: Block, along: AxisTransform): LineAct {
  const { line } = planOf(along.length)
  const transform = lineTransform(along, isComplex(block.dtype))
  return (source, target) => {
    readLine(block, source, line)
    transform(line)
    writeLine(result, target, line, along.factor)
  }
}

function lineTransform({ kind, length, sign }: AxisTransform, isInputComplex: boolean): (line: Split) => void {
  if (kind === 'to half') return realTransform(length).forward
  if (kind === 'from half') return realTransform(length).backward
  if (!isInputComplex) return wholeFromReal(length, sign)
  const { transform, work } = planOf(length)
  // A backward transform is a forward one with real and imaginary parts exchanged.
  return sign === 'forward'
    ? (line) => transform.inPlace(line, work)
    : (line) => transform.inPlace({ re: line.im, im: line.re }, work)
}

/** A complex transform of real numbers: half of it is computed, the other half is its conjugate mirror. */
function wholeFromReal(length: number, sign: AxisTransform['sign']): (line: Split) => void {
  const { forward } = realTransform(length)
  const mirror = sign === 'forward' ? -1 : 1
  return (line) => {
    forward(line)
    const { re, im } = line
    for (let k = 1; 2 * k < length; k += 1) {
      re[length - k] = re[k]!
      im[length - k] = mirror * im[k]!
      im[k] = -mirror * im[k]!
    }
  }
}

/** Elements of a line: where it starts in a block, how far apart they are, and how many. */
interface Line {
  readonly place: number
  readonly step: number
  readonly count: number
}

function readLine({ data, dtype }: Block, line: Line, to: Split): void {
  const { re, im } = to
  const { count } = line
  if (isComplex(dtype)) readComplex(data as Float64Array, line, to)
  else {
    if (isWide(dtype)) for (let k = 0; k < count; k += 1) re[k] = Number(data[line.place + k * line.step])
    else readReal(data as Float64Array, line, re)
    im.fill(0, 0, count)
  }
  re.fill(0, count)
  im.fill(0, count)
}

function readComplex(numbers: Float64Array, { place, step, count }: Line, { re, im }: Split): void {
  for (let k = 0, at = 2 * place; k < count; k += 1, at += 2 * step) {
    re[k] = numbers[at]!
    im[k] = numbers[at + 1]!
  }
}

function readReal(numbers: Float64Array, { place, step, count }: Line, re: Float64Array): void {
  for (let k = 0, at = place; k < count; k += 1, at += step) re[k] = numbers[at]!
}

function writeLine({ data, dtype }: Block, { place, step, count }: Line, { re, im }: Split, factor: number): void {
  const numbers = data as Float64Array
  if (isComplex(dtype))
    for (let k = 0, at = 2 * place; k < count; k += 1, at += 2 * step) {
      numbers[at] = re[k]! * factor
      numbers[at + 1] = im[k]! * factor
    }
  else for (let k = 0, at = place; k < count; k += 1, at += step) numbers[at] = re[k]! * factor
}

import { type Block, newResult } from '../../blocks/block.ts'
import { rowsOf } from '../../blocks/copying.ts'
import { withoutAxes } from '../../blocks/layout.ts'
import { type DType, type Elements, isComplex, isWide } from '../../types/dtype.ts'
import type { Split } from './butterflies.ts'
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
  const taken = Math.min(available, kind === 'from half' ? half : length)
  const line: Split = { re: new Float64Array(length + 1), im: new Float64Array(length + 1) }
  const transform = lineTransform(along, isComplex(block.dtype))
  const from = withoutAxes(block, [axis])
  const to = withoutAxes(result, [axis])
  const step = block.strides[axis]!
  const toStep = result.strides[axis]!
  const walk = rowsOf(from.shape, [from.strides, to.strides])
  walk.each(([place = 0, toPlace = 0]) => {
    for (let index = 0; index < walk.length; index += 1) {
      readLine(block, { place: block.offset + place + index * walk.steps[0]!, step, count: taken }, line)
      transform(line)
      const at = { place: toPlace + index * walk.steps[1]!, step: toStep, count: shape[axis]! }
      writeLine(result, at, line, along.factor)
    }
  })
  return result
}

function lineTransform({ kind, length, sign }: AxisTransform, isInputComplex: boolean): (line: Split) => void {
  if (kind === 'to half') return realTransform(length).forward
  if (kind === 'from half') return realTransform(length).backward
  if (!isInputComplex) return wholeFromReal(length, sign)
  const { transform } = planOf(length)
  const work: Split = { re: new Float64Array(length), im: new Float64Array(length) }
  // A backward transform is a forward one with real and imaginary parts exchanged.
  return sign === 'forward' ? (line) => transform(line, work) : (line) => transform({ re: line.im, im: line.re }, work)
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

function readLine({ data, dtype }: Block, { place, step, count }: Line, { re, im }: Split): void {
  const numbers = data as Float64Array
  if (isComplex(dtype))
    for (let k = 0; k < count; k += 1) {
      re[k] = numbers[2 * (place + k * step)]!
      im[k] = numbers[2 * (place + k * step) + 1]!
    }
  else {
    if (isWide(dtype)) for (let k = 0; k < count; k += 1) re[k] = Number(data[place + k * step])
    else for (let k = 0; k < count; k += 1) re[k] = numbers[place + k * step]!
    im.fill(0, 0, count)
  }
  re.fill(0, count)
  im.fill(0, count)
}

function writeLine({ data, dtype }: Block, { place, step, count }: Line, { re, im }: Split, factor: number): void {
  const numbers: Elements = data
  if (isComplex(dtype))
    for (let k = 0; k < count; k += 1) {
      numbers[2 * (place + k * step)] = re[k]! * factor
      numbers[2 * (place + k * step) + 1] = im[k]! * factor
    }
  else for (let k = 0; k < count; k += 1) numbers[place + k * step] = re[k]! * factor
}

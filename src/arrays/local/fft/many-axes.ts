import type { Block } from '../../blocks/block.ts'
import { axisOf } from '../../blocks/layout.ts'
import { ArrayError } from '../../errors.ts'
import { complex128, type DType } from '../../types/dtype.ts'
import { type AxisTransform, transformAlong } from './along-axis.ts'
import { factorOf, lengthOf, type Norm, requireReal, resultOf } from './transforms.ts'

/** Transforms along several axes: `s` has the length of each, -1 or null for that of the array. */
export interface ManyAxesOptions {
  readonly s?: readonly (number | bigint | null)[] | null
  readonly axes?: readonly (number | bigint)[] | null
  readonly norm?: Norm | null
}

export function fftn(x: Block, options: ManyAxesOptions = {}): Block {
  return inTurn(x, wholeSteps(x, options), 'forward', resultOf(x.dtype, 'complex'), options.norm)
}

export function ifftn(x: Block, options: ManyAxesOptions = {}): Block {
  return inTurn(x, wholeSteps(x, options), 'backward', resultOf(x.dtype, 'complex'), options.norm)
}

/** The last axis first. */
export function wholeSteps(x: Shaped, options: ManyAxesOptions): Step[] {
  return stepsOf(x, options).reverse()
}

/** The last axis is transformed from real numbers to the first half of complex ones, then the others. */
export function rfftn(x: Block, options: ManyAxesOptions = {}): Block {
  return inTurn(x, stepsToHalf(x, options), 'forward', resultOf(x.dtype, 'to half'), options.norm)
}

export function stepsToHalf(x: Shaped, options: ManyAxesOptions): Step[] {
  requireReal(x, 'rfftn')
  const [last, ...others] = wholeSteps(x, options)
  if (last === undefined) throw noAxes()
  return [{ ...last, kind: 'to half' }, ...others]
}

/** The last axis is transformed from the first half of complex numbers to real ones, after the others. */
export function irfftn(x: Block, options: ManyAxesOptions = {}): Block {
  return inTurn(x, stepsFromHalf(x, options), 'backward', resultOf(x.dtype, 'from half'), options.norm)
}

export function stepsFromHalf(x: Shaped, options: ManyAxesOptions): Step[] {
  const steps = stepsOf(x, options)
  const last = steps.pop()
  if (last === undefined) throw noAxes()
  const given = options.s?.at(-1)
  const isGiven = given !== undefined && given !== null && Number(given) !== -1
  const length = isGiven ? last.length : 2 * (x.shape[last.axis]! - 1)
  const half: Step = { axis: last.axis, length: lengthOf(length, length), kind: 'from half' }
  return [...steps, half]
}

type Shaped = Pick<Block, 'dtype' | 'shape'>

interface Step {
  readonly axis: number
  readonly length: number
  readonly kind: AxisTransform['kind']
}

/** Which axes are transformed, and to how many elements. Without `axes` they are the last ones, as many as `s` has. */
function stepsOf(x: Shaped, { s, axes }: ManyAxesOptions): Step[] {
  const dimensions = x.shape.length
  const count = s?.length ?? dimensions
  const chosen = axes ?? Array.from({ length: count }, (_, index) => index + dimensions - count)
  if (s && s.length !== chosen.length) throw new ArrayError('VALUE', 'Shape and axes have different lengths.')
  return chosen.map((one, index) => {
    const axis = axisOf(one, dimensions)
    const wanted = s?.[index]
    return {
      axis,
      length: lengthOf(Number(wanted ?? -1) === -1 ? null : wanted, x.shape[axis]!),
      kind: 'complex',
    }
  })
}

/** All but the last transform keep float64. */
function inTurn(
  x: Block,
  steps: readonly Step[],
  sign: AxisTransform['sign'],
  dtype: DType,
  norm: Norm | null | undefined,
): Block {
  return steps.reduce((block, step, index) => {
    const isLast = index === steps.length - 1
    return transformAlong(block, {
      ...step,
      sign,
      factor: factorOf(step.length, sign, norm),
      dtype: isLast ? dtype : complex128,
    })
  }, x)
}

function noAxes(): ArrayError {
  return new ArrayError('VALUE', 'at least 1 axis must be transformed')
}

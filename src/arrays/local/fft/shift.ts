import type { Block } from '../../blocks/block.ts'
import { axesOf } from '../../blocks/layout.ts'
import { roll } from '../manipulation.ts'

/** Which axes are shifted; all if there are none named. */
export interface ShiftOptions {
  readonly axes?: number | readonly number[] | null
}

/** Puts the element of frequency 0 in the middle of each axis. */
export function fftshift(x: Block, options: ShiftOptions = {}): Block {
  return shifted(x, options, (extent) => extent >> 1)
}

/** Takes back what `fftshift` does. */
export function ifftshift(x: Block, options: ShiftOptions = {}): Block {
  return shifted(x, options, (extent) => -(extent >> 1))
}

function shifted(x: Block, { axes }: ShiftOptions, by: (extent: number) => number): Block {
  const axis = axesOf(axes, x.shape.length)
  return roll(
    x,
    axis.map((one) => by(x.shape[one]!)),
    { axis },
  )
}

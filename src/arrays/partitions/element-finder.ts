import { positionOf } from '../blocks/slicing.ts'
import { lengthOfPart, partOf, placeInPart } from './axis-partition.ts'
import type { Partition } from './partition.ts'

/**
 * Finds elements of an array that is divided, for one rank. To find one allocates nothing, since programs do so in
 * their inner loops.
 */
export class ElementFinder {
  /** The rank of which the element that was found last is taken: the own one if it has it. */
  rank = 0
  readonly #partition: Partition
  /** Where the own rank stands along each axis of the grid: it takes elements of those that stand there, too. */
  readonly #standing: readonly number[]

  constructor(partition: Partition, taker: number) {
    this.#partition = partition
    this.#standing = partition.standing(taker)
  }

  /**
   * The number of an element in the part that has it, in row-major order. Indices are one for each axis.
   * @throws ArrayError INDEX
   */
  find(indices: number | readonly number[]): number {
    const { axes, grid, ranks } = this.#partition
    let position = 0
    let number = 0
    for (let at = 0; at < axes.length; at += 1) {
      const axis = axes[at]!
      const index = positionOf(typeof indices === 'number' ? indices : indices[at]!, axis.extent, at)
      const part = axis.kind === 'whole' ? this.#standing[at]! : partOf(axis, index)
      const place = axis.kind === 'cuts' ? index - axis.cuts[part]! : placeInPart(axis, index)
      position = position * grid[at]! + part
      number = at === 0 ? place : number * lengthOfPart(axis, part) + place
    }
    this.rank = ranks[position]!
    return number
  }
}

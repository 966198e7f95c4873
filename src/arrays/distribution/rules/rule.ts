import { ArrayError } from '../../errors.ts'
import { isInRows } from '../../exchange/ordered-reduction.ts'
import type { Entry, NodeEntry } from '../../functions/entry.ts'
import type { ArrayNode } from '../../graph/node.ts'
import { divide } from '../../partitions/partition.ts'
import { moved, partitionOf, type Sharing } from '../distribution.ts'

/** How a function is computed on parts; undefined as the result if it cannot be so for these operands. */
export type Rule = (
  sharing: Sharing,
  entry: Entry | NodeEntry,
  operands: readonly unknown[],
  isGatherWanted?: boolean,
) => unknown

/** More than this does not go to every rank unless the call says so. */
const GATHER_BYTES_MAX = 2 ** 28

/** @throws ArrayError if more would come to every rank than may without a word. */
export function checkGathered(name: string, bytes: number, isWanted: boolean): void {
  if (bytes > GATHER_BYTES_MAX && !isWanted)
    throw new ArrayError(
      'PARTITION',
      `${name} moves all ${bytes} bytes of its operands to every rank; pass { gather: true } if that is wanted`,
    )
}

export type LocalOptions = Readonly<Record<string, unknown>>

/** The options among operands, which come last; empty if there are none. */
export function optionsOf(operands: readonly unknown[]): LocalOptions {
  const last = operands[operands.length - 1]
  const isOptions = typeof last === 'object' && last !== null && Object.getPrototypeOf(last) === Object.prototype
  return isOptions && !('Elements' in last) && !('re' in last) ? (last as LocalOptions) : {}
}

/** The array in blocks of rows, one behind the other in the order of the ranks. */
export function rowsOf(sharing: Sharing, x: ArrayNode): ArrayNode {
  const { ranks } = sharing.team
  const { shape } = x
  const from = partitionOf(sharing, x)
  const isInOrder = isInRows(from) && from.ranks.every((rank, at) => rank === ranks[at])
  return isInOrder ? x : moved(sharing, x, divide(shape, 'block', ranks))
}

import type { Block } from '../blocks/block.ts'
import { copyInto, copyOf } from '../blocks/copying.ts'
import { broadcastTo, withAxis, withoutAxes } from '../blocks/layout.ts'
import { type Selection, select, shapeOfSelections } from '../blocks/slicing.ts'
import { writable } from '../functions/indexing.ts'
import { demand } from '../graph/demand.ts'
import { ArrayNode } from '../graph/node.ts'
import { Storage } from '../graph/storage.ts'
import { broadcastBack, Partition } from '../partitions/partition.ts'
import { moved, partitionOf, type Sharing } from './distribution.ts'
import { chosenParts } from './selecting.ts'

/** Each rank writes to what is selected of its part. */
export function assignParts(
  sharing: Sharing,
  node: ArrayNode,
  selections: readonly Selection[],
  value: ArrayNode,
): void {
  const from = partitionOf(sharing, node)
  // An axis of which one element is taken stays, with an extent of 1, since its element is of one part.
  const slices = selections.map(
    (each): Selection =>
      each.kind === 'one' ? { kind: 'slice', axis: each.axis, start: each.position, count: 1, step: 1 } : each,
  )
  const chosen = chosenParts(sharing, from, slices)
  if (chosen === undefined) {
    assignGathered(sharing, node, from, slices, wholeValue(value, selections))
    return
  }
  const { partition, own } = chosen
  const hasTaken = selections.some(({ kind }) => kind === 'one')
  const shape = shapeOfSelections(selections)
  const divided = value.spread !== undefined && !hasTaken && value.shape.length <= shape.length ? value : undefined
  const part = demand(
    divided === undefined
      ? moved(sharing, nodeOfWhole(wholeValue(value, selections)), partition)
      : moved(sharing, divided, broadcastBack(partition, divided.shape)),
  )
  const block = writable(node)
  node.storage?.startEpoch()
  copyInto(select(block, own), part)
}

/** Where parts of what is selected would not be in order, all elements come to every rank, which keeps its part. */
function assignGathered(
  sharing: Sharing,
  node: ArrayNode,
  from: Partition,
  slices: readonly Selection[],
  value: Block,
): void {
  const whole = copyOf(demand(moved(sharing, node, Partition.replicated(from.shape, from.ranks))))
  copyInto(select(whole, slices), value)
  const part = demand(moved(sharing, nodeOfWhole(whole), from))
  const block = writable(node)
  node.storage?.startEpoch()
  copyInto(block, part)
}

/** The value as it is written, in the shape of the slices, at every rank. */
function wholeValue(value: ArrayNode, selections: readonly Selection[]): Block {
  const block = demand(value.spread?.gathered(value) ?? value)
  const selected = shapeOfSelections(selections)
  // In NumPy, too, leading axes of extent 1 that the target does not have may go.
  const extra = Math.max(0, block.shape.length - selected.length)
  const isTrimmed = block.shape.slice(0, extra).every((extent) => extent === 1)
  const fitted = isTrimmed ? withoutAxes(block, [...new Array(extra).keys()]) : block
  let whole = broadcastTo(fitted, selected)
  for (const [axis, { kind }] of selections.entries()) if (kind === 'one') whole = withAxis(whole, axis)
  return whole
}

/** An array that every rank has. */
function nodeOfWhole(block: Block): ArrayNode {
  return ArrayNode.of(block, new Storage(block.data))
}

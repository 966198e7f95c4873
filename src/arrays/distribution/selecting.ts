import { type Selection, select } from '../blocks/slicing.ts'
import type { ArrayNode } from '../graph/node.ts'
import { type AxisMap, slicedMap } from '../partitions/axis-map.ts'
import { type AxisPartition, cutAxis, lengthOfPart, sameAxis, wholeAxis } from '../partitions/axis-partition.ts'
import { likePartition, Partition } from '../partitions/partition.ts'
import { carried, partitionOf, type Sharing, viewByPart } from './distribution.ts'

/** What is selected: a view of each part where the parts stay in order, else a copy in the same kind of partition. */
export function selectParts(sharing: Sharing, node: ArrayNode, selections: readonly Selection[]): ArrayNode {
  const from = partitionOf(sharing, node)
  const hasTaken = selections.some((each) => each.kind === 'one' && !isUndivided(from, each.axis))
  const chosen = hasTaken ? undefined : chosenParts(sharing, from, selections)
  if (chosen === undefined || chosen.partition.isReplicated) return selectCarried(sharing, node, from, selections)
  const { partition, own } = chosen
  return viewByPart(sharing, node, partition, (block) => select(block, own))
}

function isUndivided({ axes, grid }: Partition, axis: number): boolean {
  return axes[axis]!.kind === 'whole' && grid[axis] === 1
}

/** Elements that are selected come to where they are in the result, and no others move. */
function selectCarried(
  sharing: Sharing,
  node: ArrayNode,
  from: Partition,
  selections: readonly Selection[],
): ArrayNode {
  const shape = [...from.shape]
  const maps: (AxisMap | undefined)[] = []
  const taken: number[] = []
  for (const each of selections) {
    if (each.kind === 'new') continue
    const slice = each.kind === 'one' ? { start: each.position, count: 1, step: 1 } : each
    if (each.kind === 'one') taken.push(each.axis)
    const isAll = slice.start === 0 && slice.step === 1 && slice.count === shape[each.axis]
    if (!isAll) maps[each.axis] = slicedMap(slice)
    shape[each.axis] = slice.count
  }
  const to = likePartition(from, shape, taken)
  const copy = carried(sharing, node, to, maps)
  // What is left to do is to drop and to add axes of one element.
  const left = selections.map((each): Selection => {
    if (each.kind === 'one') return { ...each, position: 0 }
    return each.kind === 'new' ? each : { kind: 'slice', axis: each.axis, start: 0, count: each.count, step: 1 }
  })
  const kept = left.filter((each) => each.kind !== 'one')
  const axes = kept.map((each) => (each.kind === 'new' ? wholeAxis(1) : to.axes[each.axis]!))
  const grid = kept.map((each) => (each.kind === 'new' ? 1 : to.grid[each.axis]!))
  const partition = new Partition(axes, to.ranks, to.isReplicated ? axes.map(() => 1) : grid)
  // The parts of other ranks are those of their elements: what is selected of each is the same.
  return viewByPart(sharing, copy, partition, (block) =>
    select(
      block,
      left.map((each) => (each.kind === 'slice' ? { ...each, count: block.shape[each.axis]! } : each)),
    ),
  )
}

/** How what is selected lies over the ranks, and what each selects of its own part. */
export function chosenParts(
  { team }: Sharing,
  from: Partition,
  selections: readonly Selection[],
): { readonly partition: Partition; readonly own: readonly Selection[] } | undefined {
  const parts = from.partsOf(team.rank)
  const axes: AxisPartition[] = []
  const grid: number[] = []
  const own: Selection[] = []
  for (const selection of selections) {
    if (selection.kind === 'one') own.push(selection)
    else if (selection.kind === 'new') {
      axes.push(wholeAxis(1))
      grid.push(1)
      own.push(selection)
    } else {
      const chosen = slicedAxis(from.axes[selection.axis]!, parts[selection.axis]!, selection)
      if (chosen === undefined) return undefined
      axes.push(chosen.axis)
      grid.push(from.grid[selection.axis]!)
      own.push({ ...selection, ...chosen.own })
    }
  }
  return { partition: new Partition(axes, from.ranks, grid), own }
}

interface Slice {
  readonly start: number
  readonly count: number
  readonly step: number
}

/** Where a slice lies, and which elements of a part are in it. Undefined where parts would not be in order. */
function slicedAxis(
  axis: AxisPartition,
  part: number,
  { start, count, step }: Slice,
): { readonly axis: AxisPartition; readonly own: Slice } | undefined {
  if (axis.kind === 'whole') return { axis: wholeAxis(count), own: { start, count, step } }
  const isAll = start === 0 && step === 1 && count === axis.extent
  if (axis.kind === 'cyclic')
    return isAll ? { axis, own: { start: 0, count: lengthOfPart(axis, part), step: 1 } } : undefined
  if (step < 0) return undefined
  // The first of the slice at or behind each cut.
  const cuts = axis.cuts.map((cut) => Math.min(count, Math.max(0, Math.ceil((cut - start) / step))))
  const [first, next] = [cuts[part]!, cuts[part + 1]!]
  const own = { start: start + first * step - axis.cuts[part]!, count: next - first, step }
  const chosen = cutAxis(cuts)
  return { axis: sameAxis(chosen, axis) ? axis : chosen, own }
}

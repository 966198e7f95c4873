import { type Block, sizeOf } from '../blocks/block.ts'
import { copyInto, copyOf } from '../blocks/copying.ts'
import { broadcastTo, permute, withAxis, withoutAxes } from '../blocks/layout.ts'
import { type Selection, select, shapeOfSelections } from '../blocks/slicing.ts'
import { redistribute } from '../exchange/redistribution.ts'
import type { Steps } from '../exchange/steps.ts'
import type { Team } from '../exchange/team.ts'
import { writable } from '../functions/indexing.ts'
import { demand } from '../graph/demand.ts'
import { ArrayNode, type Parts, type Spread } from '../graph/node.ts'
import { Storage } from '../graph/storage.ts'
import {
  type AxisPartition,
  blockAxis,
  cutAxis,
  lengthOfPart,
  sameAxis,
  wholeAxis,
} from '../partitions/axis-partition.ts'
import { ElementFinder } from '../partitions/element-finder.ts'
import { broadcastBack, Partition, permutedPartition } from '../partitions/partition.ts'
import type { DType } from '../types/dtype.ts'
import { dropParts, makeReachable, reachableParts } from './parts.ts'

/** The ranks that share arrays, and how functions of the namespace are computed on parts. */
export interface Sharing {
  readonly team: Team
  call(name: string, operands: readonly unknown[]): unknown
}

/** How the elements of an array lie over the ranks of a team. */
export class Distribution implements Spread {
  readonly sharing: Sharing
  readonly partition: Partition
  readonly shape: readonly number[]
  /** Most arrays are asked for no element. */
  #finder: ElementFinder | undefined

  constructor(sharing: Sharing, partition: Partition) {
    this.sharing = sharing
    this.partition = partition
    this.shape = partition.shapeOf(sharing.team.rank)
  }

  /** The largest operand stays where it is; the others move to it. */
  align(
    operands: readonly ArrayNode[],
    shape: readonly number[],
  ): { readonly operands: readonly ArrayNode[]; readonly spread: Spread | undefined } {
    let largest = this.partition
    for (const { spread } of operands)
      if (spread instanceof Distribution && sizeOf(spread.partition.shape) > sizeOf(largest.shape))
        largest = spread.partition
    const target = stretched(largest, shape)
    return {
      operands: operands.map((node) => moved(this.sharing, node, broadcastBack(target, node.shape))),
      spread: spreadOf(this.sharing, target),
    }
  }

  call(name: string, operands: readonly unknown[]): unknown {
    return this.sharing.call(name, operands)
  }

  gathered(node: ArrayNode): ArrayNode {
    return moved(this.sharing, node, Partition.replicated(node.shape, this.sharing.team.ranks))
  }

  select(node: ArrayNode, selections: readonly Selection[]): ArrayNode | undefined {
    return selectParts(this.sharing, node, this.partition, selections)
  }

  permuted(node: ArrayNode, order: readonly number[]): ArrayNode {
    return viewByPart(this.sharing, node, permutedPartition(this.partition, order), (block) => permute(block, order))
  }

  assign(node: ArrayNode, selections: readonly Selection[], value: ArrayNode): void {
    assignParts(this.sharing, node, this.partition, selections, value)
  }

  copied(node: ArrayNode): ArrayNode {
    return placed(this.sharing, node, this.partition)
  }

  drop({ block }: ArrayNode): void {
    if (block !== undefined) dropParts(this.sharing.team, block)
  }

  parts({ block }: ArrayNode): Parts | undefined {
    return reachableParts(block)
  }

  get rank(): number {
    return this.sharing.team.rank
  }

  get finder(): ElementFinder {
    this.#finder ??= new ElementFinder(this.partition, this.rank)
    return this.#finder
  }

  sizeOf(rank: number): number {
    return this.partition.has(rank) ? sizeOf(this.partition.shapeOf(rank)) : 0
  }

  toString(): string {
    return String(this.partition)
  }
}

/** How the elements of an array lie over the ranks. */
export function partitionOf(sharing: Sharing, node: ArrayNode): Partition {
  return node.spread instanceof Distribution
    ? node.spread.partition
    : Partition.replicated(node.shape, sharing.team.ranks)
}

/** Undefined if every rank has all. */
function spreadOf(sharing: Sharing, partition: Partition): Distribution | undefined {
  return partition.isReplicated ? undefined : new Distribution(sharing, partition)
}

/** An array whose part of this rank is there. */
export function nodeOfPart(
  sharing: Sharing,
  block: Block,
  partition: Partition,
  storage: Storage = new Storage(block.data),
): ArrayNode {
  return ArrayNode.of(block, storage, spreadOf(sharing, partition), partition.shape)
}

/** An array that all ranks compute together, when its elements are needed. */
export function exchanged(
  sharing: Sharing,
  dtype: DType,
  partition: Partition,
  operands: readonly ArrayNode[],
  steps: (blocks: readonly Block[]) => Steps<Block>,
  isReadOnly: boolean = false,
): ArrayNode {
  const pending = { kind: 'exchange', operands: operands.map((node) => node.capture()), steps, isReadOnly } as const
  return ArrayNode.pending({ dtype, shape: partition.shape }, pending, spreadOf(sharing, partition))
}

/** An array each of whose parts is computed by its rank, when its elements are needed. */
export function computedByPart(
  sharing: Sharing,
  dtype: DType,
  partition: Partition,
  operands: readonly ArrayNode[],
  compute: (blocks: readonly Block[]) => Block,
): ArrayNode {
  const pending = { kind: 'call', operands: operands.map((node) => node.capture()), compute } as const
  return ArrayNode.pending({ dtype, shape: partition.shape }, pending, spreadOf(sharing, partition))
}

/** The array in another partition; the array itself if it has it. */
export function moved(sharing: Sharing, node: ArrayNode, to: Partition): ArrayNode {
  const from = partitionOf(sharing, node)
  if (from.equals(to)) return node
  return exchanged(sharing, node.dtype, to, [node], ([block]) => redistribute(sharing.team, block!, from, to))
}

/** The array in memory that every rank reaches, in any partition. */
export function placed(sharing: Sharing, node: ArrayNode, to: Partition, isReadOnly: boolean = false): ArrayNode {
  const from = partitionOf(sharing, node)
  const steps = function* ([block]: readonly Block[]): Steps<Block> {
    const { team } = sharing
    const part = yield* redistribute(team, block!, from, to)
    if (team.memory === undefined || to.isReplicated) return part === block ? copyOf(part) : part
    const own = yield* team.allocate(part.dtype, part.shape)
    copyInto(own.block, part)
    // Every rank finds the elements of the others there from now on.
    yield* team.meet()
    makeReachable(team, to, own)
    return own.block
  }
  return exchanged(sharing, node.dtype, to, [node], steps, isReadOnly)
}

/** The partition of what an array is broadcast to. */
function stretched(partition: Partition, shape: readonly number[]): Partition {
  const added = shape.length - partition.axes.length
  const axes = shape.map((extent, axis): AxisPartition => {
    const own = partition.axes[axis - added]
    if (own === undefined) return wholeAxis(extent)
    if (own.extent === extent) return own
    return own.kind === 'whole' ? wholeAxis(extent) : blockAxis(extent, own.parts)
  })
  return new Partition(axes, partition.ranks, [...new Array<number>(added).fill(1), ...partition.grid])
}

/** Each rank selects of its part. Undefined where an element is taken of a divided axis, or nothing stays divided. */
function selectParts(
  sharing: Sharing,
  node: ArrayNode,
  from: Partition,
  selections: readonly Selection[],
): ArrayNode | undefined {
  const taken = selections.filter((each) => each.kind === 'one').map(({ axis }) => axis)
  if (taken.some((axis) => from.axes[axis]?.kind !== 'whole' || from.grid[axis] !== 1)) return undefined
  const chosen = chosenParts(sharing, from, selections)
  if (chosen === undefined || chosen.partition.isReplicated) return undefined
  const { partition, own } = chosen
  return viewByPart(sharing, node, partition, (block) => select(block, own))
}

/** A view of each part. */
function viewByPart(sharing: Sharing, node: ArrayNode, partition: Partition, view: (block: Block) => Block): ArrayNode {
  const spread = new Distribution(sharing, partition)
  const { shape } = partition
  if (node.block !== undefined) return ArrayNode.of(view(node.block), node.storage!, spread, shape)
  return ArrayNode.pending({ dtype: node.dtype, shape }, { kind: 'view', base: node, view }, spread)
}

/** How what is selected lies over the ranks, and what each selects of its own part. */
function chosenParts(
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

/** Each rank writes to what is selected of its part. */
function assignParts(
  sharing: Sharing,
  node: ArrayNode,
  from: Partition,
  selections: readonly Selection[],
  value: ArrayNode,
): void {
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

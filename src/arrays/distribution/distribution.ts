import { type Block, sizeOf } from '../blocks/block.ts'
import { copyInto, copyOf } from '../blocks/copying.ts'
import { permute } from '../blocks/layout.ts'
import type { Selection } from '../blocks/slicing.ts'
import { exchange, redistribute, routeOf } from '../exchange/redistribution.ts'
import type { Steps } from '../exchange/steps.ts'
import type { Team } from '../exchange/team.ts'
import { ArrayNode, type Parts, type Spread } from '../graph/node.ts'
import { Storage } from '../graph/storage.ts'
import type { AxisMap } from '../partitions/axis-map.ts'
import { type AxisPartition, blockAxis, wholeAxis } from '../partitions/axis-partition.ts'
import { ElementFinder } from '../partitions/element-finder.ts'
import { broadcastBack, Partition, permutedPartition } from '../partitions/partition.ts'
import type { DType } from '../types/dtype.ts'
import { dropParts, makeReachable, reachableParts } from './parts.ts'

/** The ranks that share arrays, and how functions of the namespace are computed on parts. */
export interface Sharing {
  readonly team: Team
  call(name: string, operands: readonly unknown[], isGatherWanted?: boolean): unknown
  select(node: ArrayNode, selections: readonly Selection[]): ArrayNode
  pick(node: ArrayNode, picker: ArrayNode): ArrayNode | undefined
  assign(node: ArrayNode, selections: readonly Selection[], value: ArrayNode): void
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

  call(name: string, operands: readonly unknown[], isGatherWanted?: boolean): unknown {
    return this.sharing.call(name, operands, isGatherWanted)
  }

  gathered(node: ArrayNode): ArrayNode {
    return moved(this.sharing, node, Partition.replicated(node.shape, this.sharing.team.ranks))
  }

  select(node: ArrayNode, selections: readonly Selection[]): ArrayNode {
    return this.sharing.select(node, selections)
  }

  pick(node: ArrayNode, picker: ArrayNode): ArrayNode | undefined {
    return this.sharing.pick(node, picker)
  }

  permuted(node: ArrayNode, order: readonly number[]): ArrayNode {
    return viewByPart(this.sharing, node, permutedPartition(this.partition, order), (block) => permute(block, order))
  }

  assign(node: ArrayNode, selections: readonly Selection[], value: ArrayNode): void {
    this.sharing.assign(node, selections, value)
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

/**
 * A result with as many axes as the operand. Elements come from the same indices of an axis, or from those that its map
 * says.
 */
export function carried(
  sharing: Sharing,
  node: ArrayNode,
  to: Partition,
  maps: readonly (AxisMap | undefined)[],
): ArrayNode {
  const from = partitionOf(sharing, node)
  return exchanged(sharing, node.dtype, to, [node], ([block]) =>
    exchange(sharing.team, block!, routeOf(from, to, maps)),
  )
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

/** A view of each part. */
export function viewByPart(
  sharing: Sharing,
  node: ArrayNode,
  partition: Partition,
  view: (block: Block) => Block,
): ArrayNode {
  const spread = spreadOf(sharing, partition)
  const { shape } = partition
  if (node.block !== undefined) return ArrayNode.of(view(node.block), node.storage!, spread, shape)
  return ArrayNode.pending({ dtype: node.dtype, shape }, { kind: 'view', base: node, view }, spread)
}

import type { RegionGroup } from '../../dsm/index.ts'
import { invoke, NdArray, type Operand, unwrapped } from '../array.ts'
import type { Block } from '../blocks/block.ts'
import { runAwaiting } from '../exchange/steps.ts'
import { type Moved, Team } from '../exchange/team.ts'
import { asNode } from '../functions/as-node.ts'
import { callEntry } from '../functions/call.ts'
import { shapeOf } from '../functions/creation.ts'
import type { ArrayLike, Entry, NodeEntry } from '../functions/entry.ts'
import type { ArrayNode } from '../graph/node.ts'
import { LinkMemory } from '../memory/link-memory.ts'
import { SharedPool } from '../memory/shared-pool.ts'
import { type Division, divide } from '../partitions/partition.ts'
import { runsOf } from '../partitions/runs.ts'
import { TeamSharing } from './calls.ts'
import { nodeOfPart, placed } from './distribution.ts'

/** What a namespace of several ranks has beside the functions of the standard. */
export interface GroupFunctions {
  /** The array in another partition, where every rank reaches its parts. Every rank calls it. */
  redistribute(x: Operand, partition: Division): NdArray
  /**
   * Go on with the ranks that are left, once one has died. All of these call it. Arrays whose elements are still there
   * can be used; what needs those of the lost rank throws. @throws AgreementError
   */
  shrink(): Promise<void>
  /** What came to this rank from others so far. */
  readonly moved: Moved
  /** Give the memory of all arrays of this namespace back. Every rank calls it. */
  close(): Promise<void>
}

/** The functions that only need to know a shape to make a part. */
const ofShape = new Set(['zeros', 'ones', 'empty', 'full'])

/** How the functions of the namespace are called among the ranks of a group. Every rank opens it. */
export async function openGroupArrays(
  group: RegionGroup,
  isMapped: boolean = group.oneMachine,
): Promise<{
  readonly call: (entry: Entry | NodeEntry, operands: readonly unknown[]) => unknown
  readonly functions: GroupFunctions
}> {
  const ranks = Array.from({ length: group.size }, (_, rank) => rank)
  // The ranks are connected with their first agreement.
  await runAwaiting(new Team(group, ranks, group.rank, undefined).agree('opens arrays'))
  const memory = isMapped ? await SharedPool.open(group) : group.size > 1 ? new LinkMemory(group) : undefined
  const sharing = new TeamSharing(new Team(group, ranks, group.rank, memory, isMapped))
  await runAwaiting(sharing.team.agree('opens arrays'))
  let left: Pick<RegionGroup, 'shrink'> = group

  const call = (entry: Entry | NodeEntry, operands: readonly unknown[]): unknown => {
    const { partition, access, others } = divisionIn(operands)
    if (partition === undefined && access === undefined) return invoke(entry, operands)
    return new NdArray(created(sharing, entry, others, partition ?? 'replicated', access === 'read'))
  }

  const functions: GroupFunctions = {
    redistribute: (x, partition) => {
      const node = x instanceof NdArray ? NdArray.nodeOf(x) : asNode(x as ArrayLike)
      return new NdArray(placed(sharing, node, divide(node.shape, partition, sharing.team.ranks)))
    },
    shrink: async () => {
      const rest = await left.shrink()
      left = rest as unknown as typeof left
      sharing.team = await runAwaiting(sharing.team.withoutLost(rest, rest.members))
    },
    get moved() {
      return sharing.team.moved
    },
    close: async () => {
      await runAwaiting(sharing.team.meet())
      await memory?.close()
    },
  }
  return { call, functions }
}

/** The option that divides a new array, and the operands without it. */
function divisionIn(operands: readonly unknown[]): {
  readonly partition?: Division
  readonly access?: 'read' | 'write'
  readonly others: readonly unknown[]
} {
  const last = operands[operands.length - 1]
  const isOptions = typeof last === 'object' && last !== null && Object.getPrototypeOf(last) === Object.prototype
  if (!isOptions || !('partition' in last || 'access' in last)) return { others: operands }
  const { partition, access, ...options } = last as { partition?: Division; access?: 'read' | 'write' }
  const others = [...operands.slice(0, -1), options]
  return { others, ...(partition === undefined ? {} : { partition }), ...(access === undefined ? {} : { access }) }
}

/** A new array, of which each rank keeps its part. */
function created(
  sharing: TeamSharing,
  entry: Entry | NodeEntry,
  operands: readonly unknown[],
  division: Division,
  isReadOnly: boolean,
): ArrayNode {
  const { ranks, rank } = sharing.team
  if (ofShape.has(entry.name) && 'compute' in entry) {
    const partition = divide(shapeOf(operands[0] as number[]), division, ranks)
    const part = entry.compute(partition.shapeOf(rank), ...operands.slice(1)) as Block
    return placed(sharing, nodeOfPart(sharing, part, partition), partition, isReadOnly)
  }
  const shape = 'part' in entry ? entry.part?.shape(...operands) : undefined
  if (shape !== undefined && 'part' in entry && entry.part !== undefined) {
    const partition = divide(shapeOf(shape), division, ranks)
    const part = { shape: partition.shapeOf(rank), runs: runsOf(partition, rank) }
    return placed(sharing, nodeOfPart(sharing, entry.part.compute(part, ...operands), partition), partition, isReadOnly)
  }
  const node = callEntry(entry, operands.map(unwrapped)) as ArrayNode
  return placed(sharing, node, divide(node.shape, division, ranks), isReadOnly)
}

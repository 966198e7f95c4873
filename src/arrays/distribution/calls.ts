import { sizeOf } from '../blocks/block.ts'
import { sameShape } from '../blocks/layout.ts'
import type { Selection } from '../blocks/slicing.ts'
import type { Team } from '../exchange/team.ts'
import { callEntry, isNode, mapIn, nodesIn } from '../functions/call.ts'
import type { Entry, NodeEntry } from '../functions/entry.ts'
import { FUNCTIONS } from '../functions/table.ts'
import type { ArrayNode } from '../graph/node.ts'
import { divide } from '../partitions/partition.ts'
import { assignParts } from './assigning.ts'
import { moved, partitionOf, type Sharing } from './distribution.ts'
import { checkGathered } from './rules/rule.ts'
import { pickParts } from './rules/searching.ts'
import { ruleFor } from './rules/table.ts'
import { selectParts } from './selecting.ts'

const entries: ReadonlyMap<string, Entry | NodeEntry> = new Map(FUNCTIONS.map((entry) => [entry.name, entry]))

/** Arrays of a team: each function by the rule that moves least, or with all operands at every rank. */
export class TeamSharing implements Sharing {
  /** Those that are left, once a rank has died. */
  team: Team

  constructor(team: Team) {
    this.team = team
  }

  call(name: string, operands: readonly unknown[], isGatherWanted: boolean = false): unknown {
    const entry = entries.get(name)
    if (entry === undefined) throw new TypeError(`there is no function '${name}'`)
    // What was made of parts may be whole at every rank.
    if (nodesIn(operands).every(({ spread }) => spread === undefined)) return callEntry(entry, operands)
    const present = mapIn(operands, isNode, (node) => this.#amongPresent(node)) as readonly unknown[]
    return ruleFor(entry)?.(this, entry, present, isGatherWanted) ?? this.#gathered(entry, present, isGatherWanted)
  }

  select(node: ArrayNode, selections: readonly Selection[]): ArrayNode {
    return selectParts(this, node, selections)
  }

  pick(node: ArrayNode, picker: ArrayNode): ArrayNode | undefined {
    return pickParts(this, node, picker)
  }

  assign(node: ArrayNode, selections: readonly Selection[], value: ArrayNode): void {
    assignParts(this, node, selections, value)
  }

  /** An array of ranks of which one is gone is divided again. If that rank had elements, to need them is an error. */
  #amongPresent(node: ArrayNode): ArrayNode {
    const { ranks } = this.team
    const partition = partitionOf(this, node)
    const isPresent = partition.isReplicated || partition.ranks.every((rank) => ranks.includes(rank))
    return isPresent ? node : moved(this, node, divide(node.shape, 'block', ranks))
  }

  /** Every rank gets all operands, and computes the same. What has the shape of an operand is divided as that is. */
  #gathered(entry: Entry | NodeEntry, operands: readonly unknown[], isWanted: boolean): unknown {
    if ('build' in entry) return entry.build(...operands)
    const spread = nodesIn(operands).filter((node) => node.spread !== undefined)
    const bytes = spread.reduce((sum, node) => sum + sizeOf(node.shape) * node.dtype.bytes, 0)
    checkGathered(entry.name, bytes, isWanted)
    const [first] = spread
    const shape = first?.shape ?? []
    const partition = first === undefined ? undefined : partitionOf(this, first)
    const gathered = mapIn(operands, isNode, (node) => node.spread?.gathered(node) ?? node) as readonly unknown[]
    return mapIn(callEntry(entry, gathered), isNode, (node) =>
      partition !== undefined && sameShape(node.shape, shape) ? moved(this, node, partition) : node,
    )
  }
}

import type { RegionGroup } from '../../dsm/index.ts'
import { checkOptions, mustBe } from '../../native/index.ts'
import { invoke, NdArray, type Operand, unwrapped } from '../array.ts'
import type { Block } from '../blocks/block.ts'
import { sameShape } from '../blocks/layout.ts'
import { ArrayError } from '../errors.ts'
import { runAwaiting } from '../exchange/steps.ts'
import { type Moved, Team } from '../exchange/team.ts'
import { asNode } from '../functions/as-node.ts'
import { callEntry } from '../functions/call.ts'
import { type CreationOptions, shapeOf } from '../functions/creation.ts'
import { divisionIn } from '../functions/division-option.ts'
import type { ArrayLike, Entry, NodeEntry } from '../functions/entry.ts'
import { FUNCTIONS } from '../functions/table.ts'
import type { ArrayNode } from '../graph/node.ts'
import { LinkMemory } from '../memory/link-memory.ts'
import { SharedPool } from '../memory/shared-pool.ts'
import { checkDivision, type Division, divide } from '../partitions/partition.ts'
import { runsOf } from '../partitions/runs.ts'
import { DTYPES, type DType, float64, isDType } from '../types/dtype.ts'
import { TeamSharing } from './calls.ts'
import { nodeOfPart, partitionOf, placed } from './distribution.ts'
import { type Edge, stencil, withHalo } from './halo.ts'
import { type ArrayDescription, NamedArrays } from './named-arrays.ts'
import { optionsOf } from './rules/rule.ts'

/** What a namespace of several ranks has beside the functions of the standard. */
export interface GroupFunctions {
  /** The array in another partition, where every rank reaches its parts. Every rank calls it. */
  redistribute(x: Operand, partition: Division): NdArray
  /**
   * The array of this name, zeros at first. Every rank calls it. Those that know what it is say so; the others give
   * only the name, and are told. The same name opens the same array until it is disposed of. @throws ArrayError
   */
  named(name: string, options?: NamedOptions): Promise<NdArray>
  /**
   * An array in which each part has `width` elements of its neighbours on both sides of every axis. Its `localParts()`
   * is this rank's part with a halo, and only the halo moves. @throws ArrayError
   */
  exchangeHalo(x: Operand, width: number | readonly number[], options?: HaloOptions): NdArray
  /**
   * Each rank computes its part of a new array. `compute` gets its part of `x` with a halo, as an array of this rank
   * alone. It returns an array of the shape without the halo. @throws ArrayError
   */
  stencil(
    x: Operand,
    width: number | readonly number[],
    compute: (part: NdArray) => NdArray,
    options?: StencilOptions,
  ): NdArray
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

/** What an array of a name is. Without a shape it is opened as it is. */
interface NamedOptions extends CreationOptions {
  readonly shape?: number | readonly number[]
}

interface HaloOptions {
  /** What stands beyond the ends of the array: its other end, the last element, or a scalar. Default 0. */
  readonly edge?: Edge
}

interface StencilOptions extends HaloOptions {
  /** The type of what is computed. Default: that of the operand. */
  readonly dtype?: DType
}

/** The functions that only need to know a shape to make a part. */
const ofShape = new Set(['zeros', 'ones', 'empty', 'full'])

/** How a namespace among ranks calls its functions, and what it has beside them. */
export interface GroupNamespace {
  readonly call: (entry: Entry | NodeEntry, operands: readonly unknown[]) => unknown
  readonly functions: GroupFunctions
}

/** How the functions of the namespace are called among the ranks of a group. Every rank opens it. */
export async function openGroupArrays(
  group: RegionGroup,
  isMapped: boolean = group.oneMachine,
): Promise<GroupNamespace> {
  const ranks = group.members().map(({ rank }) => rank)
  // The ranks are connected with their first agreement.
  await runAwaiting(new Team(group, ranks, group.rank, undefined).agree('opens arrays'))
  const memory = isMapped ? await SharedPool.open(group) : group.size > 1 ? new LinkMemory(group) : undefined
  const sharing = new TeamSharing(new Team(group, ranks, group.rank, memory, isMapped))
  await runAwaiting(sharing.team.agree('opens arrays'))
  return namespaceAmong(sharing, group, group.grows ? namesOf(group) : undefined)
}

/** The arrays by name of a group that grows: those of members are found by one that has joined. */
const namesByGroup = new WeakMap<RegionGroup, NamedArrays>()

function namesOf(group: RegionGroup): NamedArrays {
  const known = namesByGroup.get(group)
  if (known !== undefined) return known
  const names = new NamedArrays()
  namesByGroup.set(group, names)
  return names
}

type Among = Pick<RegionGroup, 'shrink'> & Partial<Pick<RegionGroup, 'grows' | 'members'>>

/** The same among the ranks of a team, which `left` says after a death. */
export function namespaceAmong(
  sharing: TeamSharing,
  among: Among,
  names: NamedArrays = new NamedArrays(),
): GroupNamespace {
  let left = among
  const call = (entry: Entry | NodeEntry, operands: readonly unknown[]): unknown => {
    const { partition, access, others } = divisionIn(operands)
    if (partition === undefined && access === undefined) return invoke(entry, operands)
    return new NdArray(created(sharing, entry, others, partition ?? 'replicated', access === 'read'))
  }

  const functions: GroupFunctions = {
    named: async (name, options = {}) => {
      const given = describe(name, options)
      const steps = names.open(sharing, name, given, ({ shape, dtype, partition, access }) =>
        created(sharing, zeros, [shape, { dtype: DTYPES[dtype] }], partition, access === 'read'),
      )
      return await new NdArray(await runAwaiting(steps)).compute()
    },
    exchangeHalo: (x, width, options = {}) => {
      checkOptions('exchangeHalo', options, { edge: true })
      return new NdArray(withHalo(sharing, nodeOf(x), width, options.edge ?? 0))
    },
    stencil: (x, width, compute, options = {}) => {
      checkOptions('stencil', options, { edge: true, dtype: true })
      const node = nodeOf(x)
      const { edge = 0, dtype = node.dtype } = options
      const onNodes = (part: ArrayNode): ArrayNode => NdArray.nodeOf(compute(new NdArray(part)))
      return new NdArray(stencil(sharing, node, { width, edge, dtype }, onNodes))
    },
    redistribute: (x, partition) => {
      const node = nodeOf(x)
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
      // Others that have joined, or gone, have namespaces without it.
      if (among.grows !== true || isTeamOf(among.members!())) await runAwaiting(sharing.team.meet())
      await sharing.team.memory?.close()
      names.closeOf(sharing)
      sharing.team.endCounting()
    },
  }
  const isTeamOf = (members: readonly { readonly rank: number }[]): boolean =>
    sameShape(
      members.map(({ rank }) => rank),
      sharing.team.ranks,
    )
  return { call, functions }
}

const zeros = FUNCTIONS.find(({ name }) => name === 'zeros')!

function nodeOf(x: Operand): ArrayNode {
  return x instanceof NdArray ? NdArray.nodeOf(x) : asNode(x as ArrayLike)
}

/** @throws ArgumentError; ArrayError */
function describe(name: string, options: NamedOptions): ArrayDescription | undefined {
  checkOptions('named', options, { shape: true, dtype: true, partition: true, access: true })
  if (typeof name !== 'string' || name === '') throw mustBe('name', 'text that is not empty', name)
  const { shape, dtype = float64, partition = 'replicated', access = 'write' } = options
  if (shape === undefined) return undefined
  const extents: readonly unknown[] = Array.isArray(shape) ? shape : [shape]
  if (!extents.every((extent) => typeof extent === 'number' || typeof extent === 'bigint'))
    throw mustBe('options.shape', 'a whole number or a list of them', shape)
  if (!isDType(dtype)) throw mustBe('options.dtype', 'a data type, such as xp.float64', dtype)
  if (access !== 'read' && access !== 'write') throw mustBe('options.access', "'read' or 'write'", access)
  checkDivision(partition)
  return { shape: shapeOf(shape), dtype: dtype.name, partition, access }
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
  const to = divide(node.shape, division, ranks)
  if (optionsOf(operands)['copy'] !== false) return placed(sharing, node, to, isReadOnly)
  if (isReadOnly || !partitionOf(sharing, node).equals(to))
    throw new ArrayError('VALUE', 'Unable to avoid copy while creating an array as requested.')
  return node
}

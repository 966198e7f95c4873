import { type Block, newBlock } from '../blocks/block.ts'
import { copyOf } from '../blocks/copying.ts'
import { ArrayError, type ArrayErrorKind, shapeText } from '../errors.ts'
import { redistribute } from '../exchange/redistribution.ts'
import type { Steps } from '../exchange/steps.ts'
import type { Team } from '../exchange/team.ts'
import { demand, exchangeFor } from '../graph/demand.ts'
import type { ArrayNode } from '../graph/node.ts'
import { type Division, divide, Partition } from '../partitions/partition.ts'
import { DTYPES, type DTypeName } from '../types/dtype.ts'
import { ArrayMeter } from './array-meter.ts'
import { exchanged, nodeOfPart, placed, type Sharing } from './distribution.ts'

/** What an array of a name is, as ranks tell it to each other. */
export interface ArrayDescription {
  readonly shape: readonly number[]
  readonly dtype: DTypeName
  readonly partition: Division
  readonly access: 'read' | 'write'
}

/** An array of a name, and among which ranks it was opened. */
interface Known {
  readonly sharing: Sharing
  readonly node: ArrayNode
  readonly description: ArrayDescription
}

/** What a rank says of an array that it has. */
interface Had extends ArrayDescription {
  /** The ranks that have the elements, if the array was opened before others joined. */
  readonly ranks?: readonly number[]
}

/**
 * The arrays that ranks know by name. In a group that grows they are those of all namespaces that this process has
 * opened. An array of an earlier one is divided again, among the ranks that are there now.
 */
export class NamedArrays {
  readonly #known = new Map<string, Known>();

  /**
   * The array of this name. If no rank has it, it is made as those say that give a description; ranks that give none
   * are told. All ranks call it.
   * @throws ArrayError at every rank if descriptions differ, or if no rank gives one.
   */
  *open(
    sharing: Sharing,
    name: string,
    given: ArrayDescription | undefined,
    make: (description: ArrayDescription) => ArrayNode,
  ): Steps<ArrayNode> {
    const { team } = sharing
    yield* team.agree(`opens the array '${name}'`)
    const own = this.#known.get(name)
    const isThere = own !== undefined && (own.node.block !== undefined || own.node.pending !== undefined)
    const isEarlier = isThere && own.sharing !== sharing
    const had: Had | undefined = isThere
      ? { ...own.description, ...(isEarlier ? { ranks: own.sharing.team.ranks } : {}) }
      : undefined
    const told = yield* descriptions(team, [had, given])
    const [first] = told
    if (first === undefined)
      throw new ArrayError(
        'VALUE',
        `there is no array '${name}'; give its shape, as named('${name}', { shape: [100] })`,
      )
    for (const other of told) checkSame(name, first, other)
    if (isThere && !isEarlier) return own.node
    const { ranks, ...description } = first.description as Had
    const node =
      ranks === undefined
        ? make(description)
        : dividedAgain(sharing, isEarlier ? own.node : undefined, description, ranks)
    if (isEarlier && ranks !== undefined) {
      yield* exchangeFor(node)
      own.node.close()
    }
    this.#known.set(name, { sharing, node, description })
    this.#show(sharing, name, node, description)
    return node
  }

  /** No array of these is used any more. */
  closeOf(sharing: Sharing): void {
    for (const known of this.#known.values()) if (known.sharing === sharing) known.node.closed?.()
  }

  /** An array that several ranks have is seen from outside. */
  #show({ team }: Sharing, name: string, node: ArrayNode, { dtype, shape, partition }: ArrayDescription): void {
    const { ranks, rank } = team
    const elements = node.localShape.reduce((product, extent) => product * extent, 1)
    const meter = new ArrayMeter(name, { dtype, shape, partition, ranks, rank, elements })
    node.closed = () => {
      meter.close()
      node.closed = undefined
    }
  }
}

/** The elements of an array of other ranks, of which those that are here have parts, divided as it was. */
function dividedAgain(
  sharing: Sharing,
  own: ArrayNode | undefined,
  { shape, dtype, partition, access }: ArrayDescription,
  ranks: readonly number[],
): ArrayNode {
  const { team } = sharing
  const before = divide(shape, partition, ranks)
  // Of copies any will do.
  const from = before.isReplicated
    ? Partition.replicated(
        shape,
        ranks.filter((rank) => team.ranks.includes(rank)),
      )
    : before
  const block = own === undefined ? newBlock(DTYPES[dtype], from.shapeOf(team.rank)) : demand(own)
  const source = nodeOfPart(sharing, block, from)
  const to = divide(shape, partition, team.ranks)
  if (!to.isReplicated) return placed(sharing, source, to, access === 'read')
  // Those that have joined have no copy yet.
  const steps = function* ([part]: readonly Block[]): Steps<Block> {
    return copyOf(yield* redistribute(team, part!, from, to))
  }
  return exchanged(sharing, DTYPES[dtype], to, [source], steps, access === 'read')
}

interface Told {
  readonly rank: number
  readonly description: ArrayDescription
}

/** What the ranks have and give, those that have the array first. */
function* descriptions(team: Team, own: readonly (ArrayDescription | undefined)[]): Steps<Told[]> {
  const text = new TextEncoder().encode(JSON.stringify(own.map((one) => one ?? null)))
  const each = team.ranks.map(() => 1)
  const lengths = [...(yield* team.collect(Float64Array.of(text.length), each))]
  const all = yield* team.collect(text, lengths)
  const told: Told[][] = [[], []]
  let begin = 0
  for (const [at, length] of lengths.entries()) {
    const said = JSON.parse(
      new TextDecoder().decode(all.subarray(begin, begin + length)),
    ) as (ArrayDescription | null)[]
    begin += length
    for (const [place, description] of said.entries())
      if (description !== null) told[place]!.push({ rank: team.ranks[at]!, description })
  }
  return told.flat()
}

function checkSame(name: string, one: Told, other: Told): void {
  const differs = (kind: ArrayErrorKind, text: (description: ArrayDescription) => string): void => {
    const [mine, theirs] = [text(one.description), text(other.description)]
    if (mine === theirs) return
    const what = `the array '${name}' has ${mine} at rank ${one.rank}, but rank ${other.rank} asks for ${theirs}`
    throw new ArrayError(kind, `${what}; give the same, or only the name`)
  }
  differs('SHAPE', ({ shape }) => `shape ${shapeText(shape)}`)
  differs('TYPE', ({ dtype }) => `type ${DTYPES[dtype]}`)
  differs('PARTITION', ({ partition }) => `partition ${JSON.stringify(partition)}`)
  differs('READ_ONLY', ({ access }) => `access '${access}'`)
}

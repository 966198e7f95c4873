import { ArrayError, type ArrayErrorKind, shapeText } from '../errors.ts'
import type { Steps } from '../exchange/steps.ts'
import type { Team } from '../exchange/team.ts'
import type { ArrayNode } from '../graph/node.ts'
import type { Division } from '../partitions/partition.ts'
import { DTYPES, type DTypeName } from '../types/dtype.ts'

/** What an array of a name is, as ranks tell it to each other. */
export interface ArrayDescription {
  readonly shape: readonly number[]
  readonly dtype: DTypeName
  readonly partition: Division
  readonly access: 'read' | 'write'
}

/** The arrays that the ranks of a team know by name. */
export class NamedArrays {
  readonly #known = new Map<string, { readonly node: ArrayNode; readonly description: ArrayDescription }>();

  /**
   * The array of this name. If no rank has it, it is made as those say that give a description; ranks that give none
   * are told. All ranks call it.
   * @throws ArrayError at every rank if descriptions differ, or if no rank gives one.
   */
  *open(
    team: Team,
    name: string,
    given: ArrayDescription | undefined,
    make: (description: ArrayDescription) => ArrayNode,
  ): Steps<ArrayNode> {
    yield* team.agree(`opens the array '${name}'`)
    const own = this.#known.get(name)
    const isThere = own !== undefined && (own.node.block !== undefined || own.node.pending !== undefined)
    const told = yield* descriptions(team, [isThere ? own.description : undefined, given])
    const [first] = told
    if (first === undefined)
      throw new ArrayError(
        'VALUE',
        `there is no array '${name}'; give its shape, as named('${name}', { shape: [100] })`,
      )
    for (const other of told) checkSame(name, first, other)
    if (isThere) return own.node
    const node = make(first.description)
    this.#known.set(name, { node, description: first.description })
    return node
  }
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

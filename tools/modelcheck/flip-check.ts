import type { Protocol } from 'aether-dsm/internal/dsm'
import { comparePlays } from './compare-plays.ts'
import { cellText } from './coverage.ts'
import { whyEquivalent } from './equivalent-flips.ts'
import { unnoticedAfar } from './far-flips.ts'
import { type Flip, flipsOf } from './flips.ts'
import type { Model } from './model.ts'
import { deedsOf } from './outcome.ts'
import { recordedPlays } from './recorded-plays.ts'
import { runTasks, type Task } from './tasks.ts'

type Shape = Omit<Model, 'protocol'>

/** Where flips are looked for. Starvation only where one thread a node tells who it is that starves. */
const twoNodes: readonly Shape[] = [
  { nodes: 2, pages: 1, homes: 'same', threads: 'many', refusals: 1 },
  { nodes: 2, pages: 1, homes: 'same', threads: 'one', refusals: 1 },
]

/** A mistake that makes the space larger than this is taken for unnoticed. */
const STATES_MAX = 200_000

/**
 * What detects a flip first.
 *
 * - *safety*: an invariant of states does not hold.
 * - *progress*: something never ends, or is never done.
 * - *dead*: with two nodes, other cells can no longer be reached.
 * - *far*: an invariant does not hold with three nodes.
 * - *deeds*: a recorded play has another result.
 * - *words*: in every recorded play, only the text of the cell differs.
 */
const flipNets = ['safety', 'progress', 'dead', 'far', 'deeds', 'words'] as const
type FlipNet = (typeof flipNets)[number]

/** What became of the flips of a protocol's cells. */
export interface FlipReport {
  readonly protocol: string
  readonly flips: number
  /** How many each net finds that those before it let through. */
  readonly found: Readonly<Record<FlipNet, number>>
  /** How many are in cells that need more than two nodes, or pinned or lost pages: only plays lead there. */
  readonly beyond: number
  /** Not found by any. */
  readonly unnoticed: readonly string[]
  /** Names of flips that only the record detects, and why invariants cannot; undefined if that is not known. */
  readonly recordOnly: readonly { readonly name: string; readonly net: FlipNet; readonly why: string | undefined }[]
}

export interface FlipOptions {
  readonly threads?: number
  /** Only some of them (default all). */
  readonly only?: (flip: Flip) => boolean
  /**
   * Look for what two nodes do not notice with three as well, which takes hours: how far do the invariants go by
   * themselves? (default false)
   */
  readonly far?: boolean
  readonly onProgress?: (done: number, all: number) => void
}

/** Put each single mistake into a protocol's tables and look which are noticed, and by what. */
export async function checkFlips(protocol: Protocol, options: FlipOptions = {}): Promise<FlipReport> {
  const { only = () => true, far = false } = options
  const flips = flipsOf(protocol).filter((flip) => only(flip))
  const nets = new Map<Flip, FlipNet>()
  const left = (): Flip[] => flips.filter((flip) => !nets.has(flip))
  const reached = new Set<string>()
  for (const shape of twoNodes)
    for (const [flip, net] of await foundIn(protocol, shape, left(), reached, options)) nets.set(flip, net)
  if (far) {
    const unnoticed = new Set(await unnoticedAfar(protocol, left(), options))
    for (const flip of left()) if (!unnoticed.has(flip)) nets.set(flip, 'far')
  }
  const ofInvariants = left()
  for (const flip of ofInvariants) {
    const net = foundByRecord(flip)
    if (net !== undefined) nets.set(flip, net)
  }
  const count = (net: FlipNet): number => [...nets.values()].filter((each) => each === net).length
  return {
    protocol: protocol.name,
    flips: flips.length,
    found: Object.fromEntries(flipNets.map((net) => [net, count(net)])) as Record<FlipNet, number>,
    beyond: flips.filter(({ cell }) => !reached.has(cellText(cell))).length,
    unnoticed: left().map(({ name }) => name),
    recordOnly: ofInvariants
      .filter((flip) => nets.has(flip))
      .map((flip) => ({ name: flip.name, net: nets.get(flip)!, why: whyEquivalent(protocol.name, flip.name) })),
  }
}

/** Those that explorations of one shape notice. Cells that the protocol itself reaches there are put to `reached`. */
async function foundIn(
  protocol: Protocol,
  shape: Shape,
  flips: readonly Flip[],
  reached: Set<string>,
  options: FlipOptions,
): Promise<(readonly [Flip, FlipNet])[]> {
  const reference = (await runTasks([{ model: { ...shape, protocol }, options: {} }], { threads: 1 }))[0]!.result
  for (const cell of reference.visited) reached.add(cell)
  // What is never taken is never noticed.
  const taken = flips.filter(({ cell }) => reference.visited.includes(cellText(cell)))
  let done = 0
  const tasks = taken.map((flip): Task & { readonly flip: Flip } => ({
    flip,
    model: { ...shape, protocol: flip.protocol },
    options: { statesMax: STATES_MAX },
  }))
  const results = await runTasks(tasks, {
    ...(options.threads === undefined ? {} : { threads: options.threads }),
    onResult: () => {
      options.onProgress?.(++done, taken.length)
      return undefined
    },
  })
  return results.flatMap(({ task: { flip }, result }): (readonly [Flip, FlipNet])[] => {
    const { violation, exhaustive, unvisited } = result
    if (violation !== undefined) return [[flip, isOfProgress(violation.what) ? 'progress' : 'safety']]
    const isLost = (cell: string): boolean => reference.visited.includes(cell) && cell !== cellText(flip.cell)
    return exhaustive && unvisited.some((cell) => isLost(cell)) ? [[flip, 'dead']] : []
  })
}

const isOfProgress = (what: string): boolean => /^(progress|starvation)/.test(what)

/** What `npm run modelcheck` sees of a flip beside its explorations, in the plays that its cell is part of. */
function foundByRecord({ cell, protocol }: Flip): FlipNet | undefined {
  const plays = recordedPlays(protocol.name) ?? []
  const { differences } = comparePlays(protocol, plays, (cells) => cells.includes(cellText(cell)))
  if (differences.length === 0) return undefined
  const isDone = differences.some(({ recorded, now }) => deedsOf(recorded).join('\n') !== deedsOf(now).join('\n'))
  return isDone ? 'deeds' : 'words'
}

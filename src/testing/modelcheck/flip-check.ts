import type { Protocol } from '../../dsm/index.ts'
import { cellText, isOfDeaths } from './coverage.ts'
import { whyEquivalent } from './equivalent-flips.ts'
import { type Flip, flipsOf } from './flips.ts'
import type { Model } from './model.ts'
import { runTasks, type Task } from './tasks.ts'

type Shape = Omit<Model, 'protocol'>

/** Where flips are looked for: those that two nodes do not notice go on to three. */
const rounds: readonly Shape[] = [
  { nodes: 2, pages: 1, homes: 'same', threads: 'many', refusals: 1 },
  { nodes: 3, pages: 1, homes: 'same', threads: 'one', refusals: 1 },
]

/** Where those are looked for whose cells nothing in the rounds leads to. */
const lastRound: Shape = { nodes: 3, pages: 1, homes: 'same', threads: 'many', refusals: 1 }

/** A mistake that makes the space larger than this is taken for unnoticed. */
const STATES_MAX = 4_000_000

interface FlipTask extends Task {
  readonly flip: Flip
}

/** What became of the flips of a protocol's cells. */
export interface FlipReport {
  readonly protocol: string
  readonly flips: number
  /** Found by a violated invariant. */
  readonly found: number
  /** Found because other cells could not be reached any more; the first of them by the name of the flip. */
  readonly foundByDeadCells: Readonly<Record<string, string>>
  /** Not found, and why they need not be. */
  readonly equivalent: readonly { readonly name: string; readonly why: string }[]
  /** Not found, and nobody has said why. */
  readonly unexplained: readonly string[]
  /** Said to be equivalent, but found. */
  readonly stale: readonly string[]
}

export interface FlipOptions {
  readonly threads?: number
  /** Only some of them (default all). */
  readonly only?: (flip: Flip) => boolean
  readonly onProgress?: (done: number, all: number) => void
}

/** Put each single mistake into a protocol's tables and look which are noticed. */
export async function checkFlips(protocol: Protocol, options: FlipOptions = {}): Promise<FlipReport> {
  const { only = () => true } = options
  const flips = flipsOf(protocol).filter((flip) => !isOfDeaths(flip.cell) && only(flip))
  const dead: Record<string, string> = {}
  const used = new Set<string>()
  let left: readonly Flip[] = flips
  for (const shape of rounds) left = await unnoticed(protocol, shape, left, flips.length, { used, dead, options })
  const unused = left.filter(({ cell }) => !used.has(cellText(cell)))
  const later = await unnoticed(protocol, lastRound, unused, flips.length, { used, dead, options })
  return report(protocol, flips, [...left.filter((flip) => !unused.includes(flip)), ...later], dead)
}

interface Notes {
  /** Cells of the protocol that its explorations used. */
  readonly used: Set<string>
  /** By flip: a cell that it cuts off. */
  readonly dead: Record<string, string>
  readonly options: FlipOptions
}

/** The flips that break no invariant in explorations of one shape. */
async function unnoticed(
  protocol: Protocol,
  shape: Shape,
  flips: readonly Flip[],
  all: number,
  { used, dead, options }: Notes,
): Promise<Flip[]> {
  if (flips.length === 0) return []
  const reference = (await runTasks([{ model: { ...shape, protocol }, options: {} }], { threads: 1 }))[0]!.result
  for (const cell of reference.visited) used.add(cell)
  let done = all - flips.length
  const results = await runTasks(
    flips.map(
      (flip): FlipTask => ({
        flip,
        model: { ...shape, protocol: flip.protocol },
        options: { statesMax: STATES_MAX },
      }),
    ),
    {
      ...(options.threads === undefined ? {} : { threads: options.threads }),
      onResult: () => {
        options.onProgress?.(++done, all)
        return undefined
      },
    },
  )
  for (const { task, result } of results) {
    const own = cellText(task.flip.cell)
    const lost = result.unvisited.find((cell) => reference.visited.includes(cell) && cell !== own)
    if (result.exhaustive && lost !== undefined) dead[task.flip.name] ??= lost
  }
  return results.filter(({ result }) => result.violation === undefined).map(({ task }) => task.flip)
}

function report(
  protocol: Protocol,
  flips: readonly Flip[],
  left: readonly Flip[],
  dead: Readonly<Record<string, string>>,
): FlipReport {
  const why = (name: string): string | undefined => whyEquivalent(protocol.name, name)
  const names = left.map(({ name }) => name)
  const unnoticed = names.filter((name) => dead[name] === undefined)
  return {
    protocol: protocol.name,
    flips: flips.length,
    found: flips.length - left.length,
    foundByDeadCells: Object.fromEntries(
      names.flatMap((name) => (dead[name] === undefined ? [] : [[name, dead[name]]])),
    ),
    equivalent: unnoticed.flatMap((name) => (why(name) === undefined ? [] : [{ name, why: why(name)! }])),
    unexplained: unnoticed.filter((name) => why(name) === undefined),
    stale: flips.map(({ name }) => name).filter((name) => why(name) !== undefined && !unnoticed.includes(name)),
  }
}

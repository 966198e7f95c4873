import type { Protocol } from '../../dsm/index.ts'
import { cellText, isOfDeaths } from './coverage.ts'
import { whyEquivalent } from './equivalent-flips.ts'
import { type Flip, flipsOf } from './flips.ts'
import type { Model } from './model.ts'
import { runTasks, type Task } from './tasks.ts'

type Shape = Omit<Model, 'protocol'>

/** Where flips are looked for: those that two nodes do not notice go on to three. */
export const flipRounds: readonly Shape[] = [
  { nodes: 2, pages: 1, homes: 'same', threads: 'many', refusals: 1 },
  { nodes: 3, pages: 1, homes: 'same', threads: 'one', refusals: 1 },
]

/** A mistake that makes the space larger than this is taken for unnoticed. */
const STATES_MAX = 400_000

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
  const { only = () => true, threads } = options
  const flips = flipsOf(protocol).filter((flip) => !isOfDeaths(flip.cell) && only(flip))
  let left: readonly Flip[] = flips
  const dead: Record<string, string> = {}
  for (const shape of flipRounds) {
    const reference = (await runTasks([{ model: { ...shape, protocol }, options: {} }], { threads: 1 }))[0]!.result
    const tasks = left.map(
      (flip): FlipTask => ({
        flip,
        model: { ...shape, protocol: flip.protocol },
        options: { statesMax: STATES_MAX },
      }),
    )
    let done = flips.length - left.length
    const results = await runTasks(tasks, {
      ...(threads === undefined ? {} : { threads }),
      onResult: () => {
        options.onProgress?.(++done, flips.length)
        return undefined
      },
    })
    left = results.filter(({ result }) => result.violation === undefined).map(({ task }) => task.flip)
    for (const { task, result } of results) {
      const lost = result.unvisited.find(
        (cell) => reference.visited.includes(cell) && cell !== cellText(task.flip.cell),
      )
      if (lost !== undefined) dead[task.flip.name] ??= lost
    }
  }
  return report(protocol, flips, left, dead)
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

import type { Protocol } from 'aether-dsm/internal/dsm'
import { cellText } from './coverage.ts'
import type { Flip } from './flips.ts'
import type { Model } from './model.ts'
import { runTasks, type Task } from './tasks.ts'
import { type WalkResult, walkModel } from './walk.ts'

type Shape = Omit<Model, 'protocol'>

/** Where flips are looked for that two nodes do not notice: close behind a way to the cell. */
const threeNodes: Shape = {
  nodes: 3,
  pages: 1,
  homes: 'same',
  threads: 'many',
  refusals: 2,
  pins: true,
  losses: true,
}
/** Then in all states of three nodes, where there are not too many. */
const whole: readonly Shape[] = [
  { nodes: 3, pages: 1, homes: 'same', threads: 'one', refusals: 1 },
  { nodes: 3, pages: 1, homes: 'same', threads: 'many', refusals: 1 },
]

/** A mistake that makes the space larger than this is taken for unnoticed. */
const STATES_MAX = 4_000_000
/**
 * Ways to cells are found at random. Behind them, first what is sure to happen is looked at, to the end, then so many
 * states of all that may.
 */
const searches: readonly { readonly seed: number; readonly quiet: boolean; readonly statesMax: number }[] = [
  { seed: 1, quiet: true, statesMax: 20_000 },
  { seed: 1, quiet: false, statesMax: 3_000 },
  { seed: 2, quiet: true, statesMax: 20_000 },
  { seed: 3, quiet: true, statesMax: 20_000 },
  { seed: 2, quiet: false, statesMax: 30_000 },
]
/** Actions for the ways of one seed. */
const WALK_STEPS = 1_000_000

/** How explorations are run. */
export interface FarOptions {
  readonly threads?: number
  readonly onProgress?: (done: number, all: number) => void
}

/**
 * The flips that break no invariant with three nodes. Short paths to their cells are checked, and all states if these
 * are not too many.
 */
export async function unnoticedAfar(
  protocol: Protocol,
  flips: readonly Flip[],
  options: FarOptions,
): Promise<readonly Flip[]> {
  const ways = new Map<number, WalkResult['ways']>()
  let left = flips
  for (const { seed, quiet, statesMax } of searches) {
    const found = ways.get(seed) ?? walkModel({ ...threeNodes, protocol }, { steps: WALK_STEPS, seed }).ways
    ways.set(seed, found)
    left = await unnoticed(left, options, (flip) => {
      // Such a way is found without the flip; up to the cell it is the same with it.
      const after = found.get(cellText(flip.cell))?.slice(0, quiet ? undefined : -1)
      return after && { model: { ...threeNodes, protocol: flip.protocol }, options: { statesMax, quiet, after } }
    })
  }
  if (protocol.tokens !== undefined) return left
  for (const shape of whole)
    left = await unnoticed(left, options, (flip) => ({
      model: { ...shape, protocol: flip.protocol },
      options: { statesMax: STATES_MAX },
    }))
  return left
}

/** Those that explorations do not notice, or for which there is none. */
async function unnoticed(
  flips: readonly Flip[],
  { threads, onProgress }: FarOptions,
  taskOf: (flip: Flip) => Task | undefined,
): Promise<readonly Flip[]> {
  const tasks = flips.flatMap((flip) => {
    const task = taskOf(flip)
    return task === undefined ? [] : [{ ...task, flip }]
  })
  let done = 0
  const results = await runTasks(tasks, {
    ...(threads === undefined ? {} : { threads }),
    onResult: () => {
      onProgress?.(++done, tasks.length)
      return undefined
    },
  })
  const noticed = new Set(results.filter(({ result }) => result.violation !== undefined).map(({ task }) => task.flip))
  return flips.filter((flip) => !noticed.has(flip))
}

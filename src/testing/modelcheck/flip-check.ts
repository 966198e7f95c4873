import type { Protocol } from '../../dsm/index.ts'
import { cellText, isOfDeaths } from './coverage.ts'
import { whyEquivalent } from './equivalent-flips.ts'
import { type Flip, flipsOf } from './flips.ts'
import type { Model } from './model.ts'
import { runTasks, type Task, type TaskResult } from './tasks.ts'
import { type WalkResult, walkModel } from './walk.ts'

type Shape = Omit<Model, 'protocol'>

/** Where every flip is looked for first. */
const twoNodes: Shape = { nodes: 2, pages: 1, homes: 'same', threads: 'many', refusals: 1 }
/** Where those that two nodes do not notice are looked for: close behind a way to the cell. */
const threeNodes: Shape = { nodes: 3, pages: 1, homes: 'same', threads: 'many', refusals: 2 }
/** Then in all states of three nodes, where there are not too many. */
const threeNodesWhole: Shape = { nodes: 3, pages: 1, homes: 'same', threads: 'one', refusals: 1 }
/** Where those are looked for in all states whose cells one thread a node does not lead to. */
const threeNodesMany: Shape = { nodes: 3, pages: 1, homes: 'same', threads: 'many', refusals: 1 }

/** A mistake that makes the space larger than this is taken for unnoticed. */
const STATES_MAX = 4_000_000
/** Ways to cells are found at random. Behind them, first what is sure to happen is looked at, to the end, then so many states of all that may. */
const searches: readonly { readonly seed: number; readonly quiet: boolean; readonly statesMax: number }[] = [
  { seed: 1, quiet: true, statesMax: 20_000 },
  { seed: 1, quiet: false, statesMax: 3_000 },
  { seed: 2, quiet: true, statesMax: 20_000 },
  { seed: 3, quiet: true, statesMax: 20_000 },
  { seed: 2, quiet: false, statesMax: 30_000 },
]
/** Actions for the ways of one seed. */
const WALK_STEPS = 1_000_000

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
  /** In cells to which no exploration and no walk led. */
  readonly unreached: readonly string[]
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
  const notes: Notes = { used, explored: new Set(), dead, ways: [], options, all: flips.length }
  let left = await unnoticed(protocol, twoNodes, flips, notes)
  for (const search of searches) left = await unnoticedBehindWays(protocol, search, left, notes)
  if (protocol.tokens === undefined) {
    left = await unnoticed(protocol, threeNodesWhole, left, notes)
    const [done, others] = split(left, ({ cell }) => notes.explored.has(cellText(cell)))
    left = [...done, ...(await unnoticed(protocol, threeNodesMany, others, notes))]
  }
  return report(protocol, flips, left, notes)
}

interface Notes {
  /** Cells of the protocol that its explorations or its walks used. */
  readonly used: Set<string>
  /** Those that explorations of every state used. */
  readonly explored: Set<string>
  /** By flip: a cell that it cuts off. */
  readonly dead: Record<string, string>
  /** By seed. */
  readonly ways: WalkResult['ways'][]
  readonly options: FlipOptions
  /** How many flips there are. */
  readonly all: number
}

/** The flips that break no invariant in explorations of one shape. */
async function unnoticed(
  protocol: Protocol,
  shape: Shape,
  flips: readonly Flip[],
  notes: Notes,
): Promise<readonly Flip[]> {
  if (flips.length === 0) return flips
  const reference = (await runTasks([{ model: { ...shape, protocol }, options: {} }], { threads: 1 }))[0]!.result
  for (const cell of reference.visited) {
    notes.used.add(cell)
    notes.explored.add(cell)
  }
  // What is never taken is never noticed.
  const [taken, others] = split(flips, ({ cell }) => reference.visited.includes(cellText(cell)))
  const results = await runFlips(
    taken.map((flip) => ({
      flip,
      model: { ...shape, protocol: flip.protocol },
      options: { statesMax: STATES_MAX },
    })),
    others.length,
    notes,
  )
  for (const { task, result } of results) {
    const own = cellText(task.flip.cell)
    const lost = result.unvisited.find((cell) => reference.visited.includes(cell) && cell !== own)
    if (result.exhaustive && lost !== undefined) notes.dead[task.flip.name] ??= lost
  }
  return [...results.filter(({ result }) => result.violation === undefined).map(({ task }) => task.flip), ...others]
}

/** The flips that break no invariant close behind a way on which their cell is taken. Such a way is found without the flip; up to the cell it is the same with it. */
async function unnoticedBehindWays(
  protocol: Protocol,
  { seed, quiet, statesMax }: (typeof searches)[number],
  flips: readonly Flip[],
  notes: Notes,
): Promise<readonly Flip[]> {
  if (flips.length === 0) return flips
  notes.ways[seed] ??= walkModel({ ...threeNodes, protocol }, { steps: WALK_STEPS, seed }).ways
  const ways = notes.ways[seed]
  for (const cell of ways.keys()) notes.used.add(cell)
  const [taken, others] = split(flips, ({ cell }) => ways.has(cellText(cell)))
  const results = await runFlips(
    taken.map((flip) => ({
      flip,
      model: { ...threeNodes, protocol: flip.protocol },
      options: { statesMax, quiet, after: ways.get(cellText(flip.cell))!.slice(0, quiet ? undefined : -1) },
    })),
    others.length,
    notes,
  )
  return [...results.filter(({ result }) => result.violation === undefined).map(({ task }) => task.flip), ...others]
}

function split(flips: readonly Flip[], test: (flip: Flip) => boolean): [yes: Flip[], no: Flip[]] {
  return [flips.filter((flip) => test(flip)), flips.filter((flip) => !test(flip))]
}

/** Explore each, with `later` others to come after these. */
function runFlips(tasks: readonly FlipTask[], later: number, { options, all }: Notes): Promise<TaskResult<FlipTask>[]> {
  let done = all - tasks.length - later
  return runTasks(tasks, {
    ...(options.threads === undefined ? {} : { threads: options.threads }),
    onResult: () => {
      options.onProgress?.(++done, all)
      return undefined
    },
  })
}

function report(protocol: Protocol, flips: readonly Flip[], left: readonly Flip[], { dead, used }: Notes): FlipReport {
  const why = (name: string): string | undefined => whyEquivalent(protocol.name, name)
  const [reached, others] = split(left, ({ cell }) => used.has(cellText(cell)))
  const names = reached.map(({ name }) => name)
  const unnoticed = names.filter((name) => dead[name] === undefined)
  return {
    protocol: protocol.name,
    flips: flips.length,
    found: flips.length - left.length,
    foundByDeadCells: Object.fromEntries(
      names.flatMap((name) => (dead[name] === undefined ? [] : [[name, dead[name]]])),
    ),
    equivalent: unnoticed.flatMap((name) => (why(name) === undefined ? [] : [{ name, why: why(name)! }])),
    unreached: others.map(({ name }) => name),
    unexplained: unnoticed.filter((name) => why(name) === undefined),
    stale: flips.map(({ name }) => name).filter((name) => why(name) !== undefined && !unnoticed.includes(name)),
  }
}

import { fileURLToPath } from 'node:url'
import { CollectedLines, launch } from 'aether-dsm/internal/cluster'
import { type CoherenceKind, coherenceKinds } from 'aether-dsm/internal/dsm'
import { AetherError } from 'aether-dsm/internal/native'
import { allowedOutcomes, type Demand, serialOutcomes } from './model.ts'
import { formatOutcome } from './outcome.ts'
import { type Axis, axesOf, demandOf, type RankPlan, type RankReport, type Run } from './plan.ts'
import { parseShape, type Shape } from './shape.ts'
import { shapes } from './shapes.ts'

export interface LitmusOptions {
  /** Default all. */
  readonly shapes?: readonly Shape[]
  /** Those that make no sense for a shape are left out. Default {@link standardAxes}. */
  readonly axes?: readonly Axis[]
  /** The minimum for each shape and axis; rounds are run in whole batches. Default 10,000. */
  readonly rounds?: number
  /** Bytes; the grain of coherence, and how much room a batch has. Default 4096. */
  readonly pageSize?: number
  readonly seed?: number
  /**
   * Play each shape only with the fewest processes, among those of the axes, that it can be played with. Default false.
   */
  readonly fewest?: boolean
  /** Play on another memory: a module that exports `openMemory` (see litmus-memory.ts). */
  readonly memory?: URL
  /** Called after each shape and axis. */
  readonly onResult?: (result: LitmusResult) => void
}

interface OutcomeCount {
  /** In words: see `formatOutcome`. */
  readonly outcome: string
  readonly count: number
  /** Not allowed here. */
  readonly forbidden: boolean
  /** Not sequentially consistent, though perhaps allowed here. */
  readonly weak: boolean
}

export interface LitmusResult {
  readonly shape: string
  readonly axis: Axis
  readonly demand: Demand
  /** How many were played. */
  readonly rounds: number
  readonly seconds: number
  /** Most frequent first. */
  readonly outcomes: readonly OutcomeCount[]
  /** How many rounds ended in an outcome that is not allowed. */
  readonly forbidden: number
  /** How many outcomes are sequentially consistent, and how many of those were seen. */
  readonly coverage: { readonly seen: number; readonly possible: number }
  /**
   * Rounds whose outcome only processes can give that ran at the same time; undefined where the shape has no such
   * outcome.
   */
  readonly overlapped?: number
  /** How many copies were given up for want of room meanwhile. */
  readonly evicted: number
  /** Why it was not played. */
  readonly skipped?: string
}

/** Kinds of coherence that can be played: every protocol, and shared memory of one machine. */
export const litmusKinds: readonly CoherenceKind[] = coherenceKinds

/** Two to four processes, every kind of coherence, one page and two, one home and two, by `Atomics`. */
const standardAxes: readonly Axis[] = [2, 3, 4].flatMap((ranks) => axesFor(ranks, 'atomics'))

/**
 * Every axis with this number of processes and kind of access. They combine each kind of coherence, one and two pages,
 * one and two homes, with and without evictions.
 */
export function axesFor(ranks: number, access: Axis['access']): Axis[] {
  const layouts = [
    { pages: 'same', homes: 'same' },
    { pages: 'different', homes: 'same' },
    { pages: 'different', homes: 'different' },
  ] as const
  return litmusKinds.flatMap((coherence) =>
    layouts.flatMap((layout) =>
      (coherence === 'hardware' ? [false] : [false, true]).map((evictions) => ({
        coherence,
        ranks,
        ...layout,
        access,
        evictions,
      })),
    ),
  )
}

/**
 * Play litmus shapes with real processes in a group, and count the outcomes.
 * @throws AetherError ERR_AETHER_LITMUS with what the processes wrote when one of them fails.
 */
export async function runLitmus(options: LitmusOptions = {}): Promise<LitmusResult[]> {
  const { rounds = 10_000, axes = standardAxes } = options
  const runs: Run[] = (options.shapes ?? shapes).flatMap((shape) => {
    const { processes, locations } = parseShape(shape)
    const fitting = axesOf({ processes: processes.length, locations: locations.length }, axes)
    const fewest = Math.min(...fitting.map(({ ranks }) => ranks))
    const chosen = options.fewest === true ? fitting.filter(({ ranks }) => ranks === fewest) : fitting
    return chosen.map((axis) => ({ shape: shape.name, axis, rounds }))
  })
  const results: LitmusResult[] = []
  for (const ranks of new Set(runs.map((run) => run.axis.ranks)))
    results.push(
      ...(await playGroup(
        ranks,
        runs.filter((run) => run.axis.ranks === ranks),
        options,
      )),
    )
  return results
}

/** All runs of one number of processes, in one group. */
async function playGroup(ranks: number, runs: readonly Run[], options: LitmusOptions): Promise<LitmusResult[]> {
  const { pageSize = 4096, seed = 1, memory = new URL('./region-memory.js', import.meta.url) } = options
  const plan: RankPlan = { runs, pageSize, seed, memoryUrl: memory.href }
  const results: LitmusResult[] = []
  const stdout = new CollectedLines((line) => {
    const report = JSON.parse(line.slice(line.indexOf('{'))) as RankReport
    const result = judge(runs[report.run]!, report)
    results.push(result)
    options.onResult?.(result)
  })
  const complaints: string[] = []
  const stderr = new CollectedLines((line) => complaints.push(line))
  const script = fileURLToPath(new URL('./rank.js', import.meta.url))
  const { status } = await launch({ script, args: [JSON.stringify(plan)], ranks, stdout, stderr })
  if (status === 0) return results
  throw new AetherError(
    'ERR_AETHER_LITMUS',
    `the litmus processes failed (status ${status}):\n${complaints.join('\n')}`,
  )
}

function judge(run: Run, report: RankReport): LitmusResult {
  const { shape, axis } = run
  const program = parseShape(shapes.find(({ name }) => name === shape)!)
  const demand = demandOf(axis)
  const allowed = allowedOutcomes(program, demand)
  const sequential = allowedOutcomes(program, 'sequential')
  const outcomes = report.counts
    .map(([outcome, count]) => {
      const text = formatOutcome(program, outcome)
      return { outcome: text, count, forbidden: !allowed.has(outcome), weak: !sequential.has(outcome) }
    })
    .sort((a, b) => b.count - a.count)
  const serial = serialOutcomes(program)
  const overlaps = [...sequential].some((outcome) => !serial.has(outcome))
  const overlapped = report.counts.reduce((sum, [outcome, count]) => sum + (serial.has(outcome) ? 0 : count), 0)
  const total = (of: readonly OutcomeCount[]): number => of.reduce((sum, { count }) => sum + count, 0)
  const seen = report.counts.filter(([outcome]) => sequential.has(outcome)).length
  return {
    shape,
    axis,
    demand,
    rounds: total(outcomes),
    seconds: report.seconds,
    outcomes,
    forbidden: total(outcomes.filter((each) => each.forbidden)),
    coverage: { seen, possible: sequential.size },
    evicted: report.evicted,
    ...(overlaps && { overlapped }),
    ...(report.skipped !== undefined && { skipped: report.skipped }),
  }
}

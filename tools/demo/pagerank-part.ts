import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { open } from 'aether-dsm'
import { launch } from 'aether-dsm/internal/cluster'
import { countBlocks } from './block-split.ts'
import { allocateGraph, type CompressedGraph, compressEdges } from './compressed-graph.ts'
import { DemoError } from './demo-error.ts'
import type { EdgeSet } from './edge-set.ts'
import { copyGraph } from './graph-layout.ts'
import { computePageRank, toleranceDefault } from './pagerank.ts'
import { openStage, type RankPlan } from './rank-plan.ts'
import { allocateRankState } from './rank-state.ts'
import type { MemberReport } from './report-page.ts'

const rankScript = fileURLToPath(new URL('./rank-process.js', import.meta.url))
const progressPauseMs = 50

/** A coherence kind that the demo can rank in. */
export type DemoCoherence = RankPlan['coherence']

/** Called with the number of the iteration and the L1 change, now and then. */
export type OnProgress = (iteration: number, change: number) => void

/** The graph ranked by this process alone, in memory of its own. */
export interface AloneOutcome {
  readonly graph: CompressedGraph
  readonly ranks: Float64Array
  readonly iterations: number
  readonly change: number
  readonly totalMs: number
}

/** The graph ranked by a group through a region. */
export interface TogetherOutcome {
  readonly coherence: DemoCoherence
  readonly pageBytes: number
  readonly members: readonly MemberReport[]
  /** From the first iteration to the last, of the slowest member, in milliseconds. */
  readonly totalMs: number
  readonly shareMs: number
  readonly iterations: number
  /** Whether every rank has the bits that one process alone found. */
  readonly same: boolean
}

/** Rank the graph in this process. */
export async function rankAlone(edges: EdgeSet, onProgress: OnProgress): Promise<AloneOutcome> {
  const graph = allocateGraph(edges.vertexCount, edges.from.length)
  compressEdges(edges, graph)
  const state = allocateRankState(graph)
  const start = performance.now()
  const { iterations, change } = await computePageRank(state, {
    firstBlock: 0,
    lastBlock: countBlocks(edges.vertexCount),
    onIteration: onProgress,
  })
  return { graph, ranks: state.ranks, iterations, change, totalMs: performance.now() - start }
}

/** What a group is to do. */
export interface TogetherPlan {
  readonly members: number
  readonly coherence: DemoCoherence
  readonly pageBytes: number
}

/** Start the ranks, watch them, compare. @throws DemoError when one of them fails. */
export async function rankTogether(
  alone: AloneOutcome,
  wanted: TogetherPlan,
  onProgress: OnProgress,
): Promise<TogetherOutcome> {
  const { graph } = alone
  await using space = await open(`aether-demo-${process.pid}`)
  const plan: RankPlan = {
    ...wanted,
    space: space.name,
    vertexCount: graph.outDegrees.length,
    edgeCount: graph.sources.length,
  }
  const stage = await openStage(space, plan)
  copyGraph(graph, stage.graph)
  const running = launch({ script: rankScript, args: [JSON.stringify(plan)], ranks: wanted.members })
  await watch(running, () => onProgress(stage.reports[0]!.progress.iteration, stage.reports[0]!.progress.change))
  const { status, failures } = await running
  if (status !== 0) throw new DemoError(describeEnd(status, failures.length))
  const reports = stage.reports.map((page) => page.read())
  return summariseGroup(wanted, reports, haveSameBits(alone.ranks, stage.result))
}

/** What the reports of all ranks say together. @throws DemoError where one is missing. */
export function summariseGroup(
  wanted: TogetherPlan,
  reports: readonly (MemberReport | undefined)[],
  same: boolean,
): TogetherOutcome {
  const members = reports.filter((report) => report !== undefined)
  if (members.length < reports.length) throw new DemoError('a rank ended without a report')
  const most = (of: (report: MemberReport) => number): number => Math.max(...members.map(of))
  return {
    coherence: wanted.coherence,
    pageBytes: wanted.pageBytes,
    members,
    totalMs: most((report) => report.totalMs),
    shareMs: most((report) => report.shareMs),
    iterations: most((report) => report.iterations),
    same,
  }
}

function describeEnd(status: number, failures: number): string {
  if (failures === 0) return `the ranks were stopped (status ${status})`
  return `${failures} of the ranks failed (status ${status}); what they said is above`
}

export function hasConverged({ change }: { change: number }): boolean {
  return change < toleranceDefault
}

/** Bits, not numbers: to the comparison of numbers 0 and -0 are equal and NaN is not itself. */
function haveSameBits(a: Float64Array, b: Float64Array): boolean {
  const left = new BigUint64Array(a.buffer, a.byteOffset, a.length)
  const right = new BigUint64Array(b.buffer, b.byteOffset, b.length)
  return left.length === right.length && left.every((bits, index) => bits === right[index])
}

async function watch(running: Promise<unknown>, look: () => void): Promise<void> {
  let settled = false
  const end = () => {
    settled = true
  }
  running.then(end, end)
  while (!settled) {
    look()
    await Promise.race([running.catch(() => {}), sleep(progressPauseMs, undefined, { ref: false })])
  }
}

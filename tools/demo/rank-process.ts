/**
 * One rank of the demo's second part: joins the group, computes its share of PageRank in the group's region, reports on
 * the demo's stage.
 * @module
 */
import { type RegionGroup as Group, join, open } from 'aether-dsm'
import { splitBlocks } from './block-split.ts'
import type { GraphChoice } from './graph-choice.ts'
import { copyGraph } from './graph-layout.ts'
import { startKernelMeter, startProtocolMeter } from './member-meter.ts'
import { loadStage } from './own-stage.ts'
import { computePageRank, warmUp } from './pagerank.ts'
import { digestOf, printLine } from './printed-report.ts'
import { openStage, type RankPlan, type Stage, windowsOf } from './rank-plan.ts'
import { fetcherOf, fetchGraph, type Share, shareOf } from './rank-share.ts'
import type { RankState } from './rank-state.ts'
import { openRankState, planRegion } from './region-layout.ts'
import { createSharedBarrier } from './shared-barrier.ts'

const plan = JSON.parse(process.argv[2]!) as RankPlan
/** A host may be slow to start, or far away. */
const elsewhereMsMax = 300_000

if (plan.graph === undefined) await takePartHere()
else await takePartElsewhere(plan.graph)

/** On the demo's own machine. */
async function takePartHere(): Promise<void> {
  await using space = await open(plan.space)
  const stage = await openStage(space, plan)
  await using group = await join()
  await takePart(stage, group)
}

/** On another host. */
async function takePartElsewhere(graph: GraphChoice): Promise<void> {
  await using group = await join({ timeoutMs: elsewhereMsMax })
  const stage = await loadStage(graph, plan.members)
  await takePart(stage, group)
  const { rank } = group
  const report = stage.reports[rank]!.read()
  if (report !== undefined) printLine({ type: 'report', rank, report, digest: digestOf(stage.result) })
}

async function takePart(stage: Stage, group: Group): Promise<void> {
  const { vertexCount, edgeCount, coherence, pageBytes } = plan
  const bounds = splitBlocks(stage.graph.offsets, group.size, pageBytes)
  const layout = planRegion({ vertexCount, edgeCount, bounds, pageBytes })
  await using region = await group.openRegion('pagerank', { size: layout.lengthBytes, coherence, pageSize: pageBytes })
  const state = openRankState(layout, windowsOf(region))
  const own = shareOf(stage.graph, bounds, group.rank)
  const shareMs = await shareGraph(stage, group, state, () => fetchGraph(region, layout, own))
  await rankShare(stage, group, state, { own, shareMs, fetch: fetcherOf(region, layout, own) })
  if (group.rank === 0) stage.result.set(state.ranks)
  // The others' pages stay until rank 0 has read them.
  await group.barrier()
}

/**
 * Rank 0 puts the graph into the region, and every rank takes its part of it. No rank starts before all have their
 * parts. Returns how long that took.
 */
async function shareGraph(stage: Stage, group: Group, state: RankState, take: () => Promise<void>): Promise<number> {
  await group.barrier()
  const start = performance.now()
  if (group.rank === 0) copyGraph(stage.graph, state.graph)
  await group.barrier()
  await take()
  await group.barrier()
  return performance.now() - start
}

async function rankShare(
  stage: Stage,
  group: Group,
  state: RankState,
  { own, shareMs, fetch }: { own: Share; shareMs: number; fetch: (iteration: number) => Promise<void> },
): Promise<void> {
  const report = stage.reports[group.rank]!
  const together =
    plan.coherence === 'hardware' && stage.barrier !== undefined
      ? { barrier: createSharedBarrier(stage.barrier, group.size) }
      : { barrier: () => group.barrierSync(), fetch }
  const options = {
    ...together,
    firstBlock: own.firstBlock,
    lastBlock: own.endBlock,
    onIteration: (iteration: number, change: number) => report.showProgress(iteration, change),
  }
  await warmUp(state, options)
  const meter = plan.coherence === 'hardware' ? startKernelMeter() : startProtocolMeter(group)
  const start = performance.now()
  const result = await computePageRank(state, options)
  const totalMs = performance.now() - start
  report.write({ ...result, ...meter(), edges: own.endEdge - own.firstEdge, shareMs, totalMs })
}

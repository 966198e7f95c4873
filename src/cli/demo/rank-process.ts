/**
 * One rank of the demo's second part: joins the group, computes its share of PageRank in the group's region, reports on the demo's stage.
 * @module
 */
import { type RegionGroup as Group, join, open, type Region } from '../../index.ts'
import { blockVertices, splitBlocks } from './block-split.ts'
import { copyGraph } from './graph-layout.ts'
import { startKernelMeter, startProtocolMeter } from './member-meter.ts'
import { computePageRank } from './pagerank.ts'
import { openStage, type RankPlan, type Stage, windowsOf } from './rank-plan.ts'
import type { RankState } from './rank-state.ts'
import { openRankState, planRegion, type RegionLayout } from './region-layout.ts'

const plan = JSON.parse(process.argv[2]!) as RankPlan

await using space = await open(plan.space)
const stage = await openStage(space, plan)
await using group = await join()
await takePart(stage, group)

async function takePart(stage: Stage, group: Group): Promise<void> {
  const { vertexCount, edgeCount, coherence, pageBytes } = plan
  const bounds = splitBlocks(stage.graph.offsets, group.size, pageBytes)
  const layout = planRegion({ vertexCount, edgeCount, bounds, pageBytes })
  await using region = await group.openRegion('pagerank', { size: layout.lengthBytes, coherence, pageSize: pageBytes })
  const state = openRankState(layout, windowsOf(region))
  const shareMs = await shareGraph(stage, group, state)
  await rankShare(stage, group, state, { bounds, shareMs, fetch: fetcherOf(region, layout) })
  if (group.rank === 0) stage.result.set(state.ranks)
  // The others' pages stay until rank 0 has read them.
  await group.barrier()
}

/** Rank 0 puts the graph into the region; nobody starts before it is there. Returns how long that took. */
async function shareGraph(stage: Stage, group: Group, state: RankState): Promise<number> {
  await group.barrier()
  const start = performance.now()
  if (group.rank === 0) copyGraph(stage.graph, state.graph)
  await group.barrier()
  return performance.now() - start
}

async function rankShare(
  stage: Stage,
  group: Group,
  state: RankState,
  { bounds, shareMs, fetch }: { bounds: Uint32Array; shareMs: number; fetch: (iteration: number) => Promise<void> },
): Promise<void> {
  const firstBlock = bounds[group.rank]!
  const lastBlock = bounds[group.rank + 1]!
  const report = stage.reports[group.rank]!
  const meter = plan.coherence === 'mesi' ? startProtocolMeter(group) : startKernelMeter()
  const start = performance.now()
  const result = await computePageRank(state, {
    firstBlock,
    lastBlock,
    barrier: () => group.barrierSync(),
    ...(plan.coherence === 'mesi' && { fetch }),
    onIteration: (iteration, change) => report.showProgress(iteration, change),
  })
  const totalMs = performance.now() - start
  report.write({ ...result, ...meter(), edges: edgesInto(stage, firstBlock, lastBlock), shareMs, totalMs })
}

function edgesInto({ graph }: Stage, firstBlock: number, lastBlock: number): number {
  const edgesBefore = (block: number) => graph.offsets[Math.min(block * blockVertices, graph.outDegrees.length)]!
  return edgesBefore(lastBlock) - edgesBefore(firstBlock)
}

function fetcherOf(region: Region, layout: RegionLayout): (iteration: number) => Promise<void> {
  return async (iteration) => {
    const current = (iteration & 1) as 0 | 1
    await region.prefetch(layout.contributions[current], layout.graph.vertexCount * 8)
    await region.prefetch(layout.partials[current], layout.partialsBytes)
  }
}

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
  await rankShare(stage, group, state, {
    bounds,
    shareMs,
    fetch: fetcherOf(region, layout, ownVertices(bounds, group.rank, layout)),
  })
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

/**
 * After each iteration: the others' contributions for reading, and the pages that this member writes next for writing; nobody reads those any more. Asked for
 * together, the pages' round trips overlap; touched one by one, each would be a fault of its own.
 */
function fetcherOf(
  region: Region,
  layout: RegionLayout,
  ownVertices: readonly [number, number],
): (iteration: number) => Promise<void> {
  const [first, end] = ownVertices
  return async (iteration) => {
    const current = (iteration & 1) as 0 | 1
    const next = (current ^ 1) as 0 | 1
    await Promise.all([
      region.prefetch(layout.contributions[current], layout.graph.vertexCount * 8),
      region.prefetch(layout.partials[current], layout.partialsBytes),
      region.prefetch(layout.contributions[next] + first * 8, (end - first) * 8, { access: 'write' }),
    ])
  }
}

/** First vertex, and the one behind the last, of the blocks that `rank` owns. */
function ownVertices(bounds: Uint32Array, rank: number, { graph }: RegionLayout): [number, number] {
  const first = bounds[rank]! * blockVertices
  const end = bounds[rank + 1]! * blockVertices
  return [Math.min(first, graph.vertexCount), Math.min(end, graph.vertexCount)]
}

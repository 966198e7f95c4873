import type { Region, Space } from 'aether-dsm'
import type { CoherenceKind } from 'aether-dsm/internal/dsm'
import type { CompressedGraph } from './compressed-graph.ts'
import type { GraphChoice } from './graph-choice.ts'
import { type OpenWindow, openGraph, placeGraph, RegionCursor } from './graph-layout.ts'
import { ReportPage, reportBytes } from './report-page.ts'

/** What the demo tells the ranks that it starts; it travels as JSON in their argument. */
export interface RankPlan {
  /** The space in which the demo has laid out the graph, and waits for the result; empty for a rank on another host. */
  readonly space: string
  /** On another host: the graph, which the rank reads or makes itself. */
  readonly graph?: GraphChoice
  readonly coherence: CoherenceKind
  readonly pageBytes: number
  readonly members: number
  readonly vertexCount: number
  readonly edgeCount: number
}

const stagePageBytes = 4096

/**
 * What the demo and the ranks share besides the group's own region. It has the graph that the demo read, the resulting
 * ranks, and a page for the reports of each member. It is a space, so that the demo, which is not a rank, can be a
 * member.
 */
export interface Stage {
  readonly graph: CompressedGraph
  readonly result: Float64Array
  readonly reports: readonly ReportPage[]
  /** Words for a barrier of all ranks; undefined if they run on several machines. */
  readonly barrier?: Int32Array
  close(): Promise<void>
}

/** Open the stage, or make it. Everything in it is `hardware`: it is not what the demo shows. */
export async function openStage(space: Space, plan: RankPlan): Promise<Stage> {
  const cursor = new RegionCursor(stagePageBytes)
  const graph = placeGraph(cursor, plan.vertexCount, plan.edgeCount)
  const result = cursor.place(plan.vertexCount * Float64Array.BYTES_PER_ELEMENT)
  const reports = Array.from({ length: plan.members }, () => cursor.place(reportBytes))
  const barrier = cursor.place(stagePageBytes)
  const region = await space.openRegion('stage', { size: cursor.lengthBytes, coherence: 'hardware' })
  const open = windowsOf(region)
  return {
    graph: openGraph(graph, open),
    result: open(Float64Array, { byteOffset: result, length: plan.vertexCount }),
    reports: reports.map(
      (byteOffset) => new ReportPage(region.view(Float64Array, { byteOffset, length: reportBytes / 8 })),
    ),
    barrier: region.view(Int32Array, { byteOffset: barrier, length: 2 }),
    close: () => region.close(),
  }
}

/** `region.view`, as the layouts want it. */
export function windowsOf(region: Region): OpenWindow {
  return (type, window) => region.view(type, window)
}

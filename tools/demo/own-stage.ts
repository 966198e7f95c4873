import { allocateGraph, compressEdges } from './compressed-graph.ts'
import { type GraphChoice, loadGraph } from './graph-choice.ts'
import { PrintedReport } from './printed-report.ts'
import type { Stage } from './rank-plan.ts'
import { clusterHubs } from './vertex-order.ts'

/**
 * The stage of a rank that shares no memory with the demo. The rank reads or generates the graph itself, and prints its
 * reports.
 */
export async function loadStage(choice: GraphChoice, members: number): Promise<Stage> {
  const edges = clusterHubs(await loadGraph(choice))
  const graph = allocateGraph(edges.vertexCount, edges.from.length)
  compressEdges(edges, graph)
  return {
    graph,
    result: new Float64Array(edges.vertexCount),
    reports: Array.from({ length: members }, (_, rank) => new PrintedReport(rank === 0)),
    close: async () => {},
  }
}

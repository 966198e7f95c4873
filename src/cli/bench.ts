import { benchBandwidth } from './bench/bandwidth.ts'
import { type BenchOptions, benchLatency, DEFAULT_TIME_MS, defaultSizes } from './bench/latency.ts'
import type { BenchRow } from './bench/row.ts'
import { type Command, ExitCode } from './command.ts'
import { integerOption, parseOptions } from './options.ts'
import { type Column, formatTable } from './output/table.ts'
import { formatBytes, formatCount, formatRate } from './output/units.ts'
import { UsageError } from './usage-error.ts'

const help = `Usage: aether bench <latency | bandwidth> [options]

Measures one-sided READ and WRITE, SEND, fetch-add and compare-swap between two processes, beside memcpy (Uint8Array.set) and
child_process IPC in the same run.

  latency     one operation at a time, from post to polled completion; SEND and IPC are half of a round trip
  bandwidth   32 operations outstanding, one completion for all of them

Options:
  --device NAME     device of the verbs layer (default: shm0)
  --sizes LIST      message lengths in bytes, separated by commas (default: ${defaultSizes.join(',')})
  --time-ms N       how long each row is measured (default: ${DEFAULT_TIME_MS})
  --json            print the rows as JSON and nothing else
  --help            this text

Examples:
  aether bench latency
  aether bench bandwidth --sizes 4096,1048576 --json
`

const table = {
  device: { type: 'string', default: 'shm0' },
  sizes: { type: 'string', default: defaultSizes.join(',') },
  'time-ms': { type: 'string', default: String(DEFAULT_TIME_MS) },
  json: { type: 'boolean', default: false },
} as const

const SIZE_MAX = 1 << 30
const TIME_MS_MAX = 60_000
const kinds: Readonly<Record<string, (options: BenchOptions) => Promise<BenchRow[]>>> = {
  latency: benchLatency,
  bandwidth: benchBandwidth,
}

const columns: readonly Column[] = [
  { title: 'operation', align: 'left' },
  { title: 'provider', align: 'left' },
  ...['length', 'p50 ns', 'p99 ns', 'max ns', 'rate', 'GB/s', 'cpu ns/op'].map(
    (title): Column => ({ title, align: 'right' }),
  ),
]

const notes = [
  'p50 and p99 are of means over batches of operations, since one is shorter than the clock resolves; max is what one operation took in the',
  'slowest batch if the others took the median. cpu is the processor time of both processes; for SEND both ends spin.',
]

/** `aether bench latency|bandwidth`. */
export const benchCommand: Command = {
  help,
  async run(args) {
    const { values, positionals } = parseOptions('bench', args, table, 1)
    const kind = kinds[positionals[0] ?? '']
    if (kind === undefined)
      throw new UsageError(`bench takes latency or bandwidth, not '${positionals[0] ?? ''}'`, 'bench')
    const sizes = values.sizes.split(',').map((text) => integerOption('bench', '--sizes', text, 1, SIZE_MAX))
    const timeMs = integerOption('bench', '--time-ms', values['time-ms'], 1, TIME_MS_MAX)
    const rows = await kind({ device: values.device, sizes, timeMs })
    process.stdout.write(values.json ? `${JSON.stringify(rows, undefined, 2)}\n` : `${page(rows).join('\n')}\n`)
    return ExitCode.Done
  },
}

function page(rows: readonly BenchRow[]): string[] {
  return [...formatTable(columns, rows.map(cells)), '', ...notes]
}

function cells(row: BenchRow): string[] {
  const ns = (value: number): string => (value < 1000 ? value.toFixed(1) : formatCount(value))
  const { op, provider, bytes, p50Ns, p99Ns, maxNs, opsPerSec, gbPerSec, cpuNsPerOp } = row
  return [
    op,
    provider,
    formatBytes(bytes),
    ns(p50Ns),
    ns(p99Ns),
    ns(maxNs),
    formatRate(opsPerSec),
    gbPerSec.toFixed(3),
    ns(cpuNsPerOp),
  ]
}

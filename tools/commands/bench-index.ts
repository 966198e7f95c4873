import { formatBytes, integerOption } from 'aether-dsm/internal/cli'
import {
  benchIndex,
  DEFAULT_INDEX_KEYS,
  DEFAULT_INDEX_KILLS,
  DEFAULT_RESTART_BYTES,
  defaultIndexClients,
  defaultIndexSizes,
  type IndexBenchOptions,
} from '../bench/index-service/bench-index.ts'
import { DEFAULT_INDEX_TIME_MS, indexSections } from '../bench/index-service/section.ts'
import { indexKind } from '../bench/results/index-kind.ts'
import { type BenchOption, type BenchValues, millisecondsOf, numbersOf, peersOf, wordsOf } from './bench-options.ts'
import { type PreparedBench, prepareBench } from './bench-run.ts'

/** The maximum length of a value. */
const bytesMax = 2 ** 20
const clientsMax = 64
const keysMax = 10_000_000
const killsMax = 10_000
const restartMibMax = 4096
const MIB = 2 ** 20

export const indexTakes: readonly BenchOption[] = [
  'sections',
  'sizes',
  'clients',
  'time-ms',
  'peers',
  'keys',
  'kills',
  'restart-mib',
]

/** `aether bench index`. @throws UsageError */
export function indexBenchOf(values: BenchValues): PreparedBench {
  const numberOf = (option: 'keys' | 'kills' | 'restart-mib', fallback: number, max: number): number => {
    const text = values[option]
    return text === undefined ? fallback : integerOption('bench', `--${option}`, text, 1, max)
  }
  return indexBench({
    sections: wordsOf('sections', values.sections, indexSections),
    sizes: numbersOf('sizes', values.sizes, defaultIndexSizes, 1, bytesMax),
    clients: numbersOf('clients', values.clients, defaultIndexClients, 1, clientsMax),
    timeMs: millisecondsOf('time-ms', values['time-ms'], DEFAULT_INDEX_TIME_MS),
    peers: peersOf(values.peers),
    keys: numberOf('keys', DEFAULT_INDEX_KEYS, keysMax),
    kills: numberOf('kills', DEFAULT_INDEX_KILLS, killsMax),
    restartBytes: MIB * numberOf('restart-mib', DEFAULT_RESTART_BYTES / MIB, restartMibMax),
  })
}

export function indexBench(options: IndexBenchOptions): PreparedBench {
  return prepareBench({
    name: 'index',
    kind: indexKind,
    measure: ({ progress, missing }) =>
      benchIndex({
        ...options,
        onRow: ({ op, provider, bytes }) => progress(`${op}, ${provider}, ${formatBytes(bytes)}`),
        onMissing: missing,
      }),
  })
}

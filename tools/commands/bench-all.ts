import { collectiveNames } from 'aether-dsm/internal/collectives'
import { openDevice } from 'aether-dsm/internal/verbs'
import type { CommonName } from '../bench/results/common-kinds.ts'
import { storeNames } from '../bench/structures/bench-store.ts'
import { arraysBench } from './bench-arrays.ts'
import { collectivesBench } from './bench-collectives.ts'
import { type CommonOptions, commonBench, commonTakes } from './bench-common.ts'
import { dsmBench } from './bench-dsm.ts'
import { indexBench } from './bench-index.ts'
import {
  type BenchOption,
  type BenchValues,
  deviceDefault,
  millisecondsOf,
  numbersOf,
  peersOf,
  sizeMax,
  wordsOf,
} from './bench-options.ts'
import type { PreparedBench } from './bench-run.ts'
import { scalingBench } from './bench-scaling.ts'
import { spacesBench } from './bench-spaces.ts'
import { structuresBench } from './bench-structures.ts'

/** How long each cell is measured by default, in milliseconds: enough for an overview, not for precise figures. */
export const ALL_TIME_MS = 20
/** Default lengths. */
export const allSizes: readonly number[] = [64, 65_536]

export const allTakes: readonly BenchOption[] = ['device', 'sizes', 'time-ms', 'peers', 'suites']

type AllOptions = Required<Pick<CommonOptions, 'device' | 'sizes' | 'timeMs' | 'peers'>>

const common = (name: CommonName) => (options: AllOptions) =>
  commonBench(name, {
    ...options,
    depths: [1, 16],
    clients: [1, 2],
    processes: name === 'replicate' || name === 'agreement' ? [3] : [2, 4],
  })

/** Each has few cells, so that all take only minutes, but enough to show how the figures grow. */
const short: Readonly<Record<string, (options: AllOptions) => PreparedBench>> = {
  ...Object.fromEntries((Object.keys(commonTakes) as CommonName[]).map((name) => [name, common(name)])),
  collectives: ({ device, sizes, timeMs }) =>
    collectivesBench({ device, collectives: collectiveNames, processes: [2, 4], sizes, cellMs: timeMs }),
  dsm: ({ timeMs }) => dsmBench({ ranks: [2], pageBytes: [4096], iterations: 10 * timeMs, cellMs: timeMs }),
  scaling: () => scalingBench([2, 16, 128]),
  structures: ({ timeMs }) =>
    structuresBench({
      stores: storeNames,
      processes: [1, 2],
      bytes: [16],
      keys: ['uniform'],
      writes: [0, 100],
      timeMs,
    }),
  arrays: ({ timeMs, peers }) => arraysBench({ elements: [1e3, 1e5], ranks: [2], threads: [1], timeMs, peers }),
  spaces: ({ timeMs, peers }) => spacesBench({ sizeBytes: 2 ** 26, timeMs, peers }),
  index: ({ sizes, timeMs, peers }) =>
    indexBench({ sizes, clients: [1, 2], timeMs, peers, keys: 10_000, kills: 1, restartBytes: 2 ** 20 }),
}

/** In the order in which they run. */
export const suiteNames: readonly string[] = Object.keys(short)

/** The benchmarks of `aether bench all`. @throws UsageError, and AetherError if there is no such device. */
export function allBenchesOf(values: BenchValues): PreparedBench[] {
  const options = {
    device: values.device ?? deviceDefault,
    sizes: numbersOf('sizes', values.sizes, allSizes, 1, sizeMax),
    timeMs: millisecondsOf('time-ms', values['time-ms'], ALL_TIME_MS),
    peers: peersOf(values.peers),
  }
  const names = wordsOf('suites', values.suites, suiteNames)
  openDevice(options.device).close()
  return names.map((name) => short[name]!(options))
}

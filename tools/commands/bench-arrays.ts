import { formatCount } from 'aether-dsm/internal/cli'
import {
  type ArraysBenchOptions,
  benchArrays,
  DEFAULT_ARRAYS_TIME_MS,
  defaultArrayRanks,
  defaultElements,
  defaultThreads,
} from '../bench/arrays/arrays.ts'
import { arraysKind } from '../bench/results/arrays-kind.ts'
import { type BenchOption, type BenchValues, millisecondsOf, numbersOf, peersOf } from './bench-options.ts'
import { type PreparedBench, prepareBench } from './bench-run.ts'

const ELEMENTS_MIN = 64
const ELEMENTS_MAX = 1e12
const RANKS_MAX = 16
const THREADS_MAX = 256

export const arraysTakes: readonly BenchOption[] = ['elements', 'ranks', 'threads', 'time-ms', 'peers']

/** `aether bench arrays`. @throws UsageError */
export function arraysBenchOf(values: BenchValues): PreparedBench {
  return arraysBench({
    elements: numbersOf('elements', values.elements, defaultElements, ELEMENTS_MIN, ELEMENTS_MAX),
    ranks: values.ranks === 'none' ? [] : numbersOf('ranks', values.ranks, defaultArrayRanks, 1, RANKS_MAX),
    threads: numbersOf('threads', values.threads, defaultThreads, 1, THREADS_MAX),
    timeMs: millisecondsOf('time-ms', values['time-ms'], DEFAULT_ARRAYS_TIME_MS),
    peers: peersOf(values.peers),
  })
}

export function arraysBench(options: ArraysBenchOptions): PreparedBench {
  return prepareBench({
    name: 'arrays',
    kind: arraysKind,
    measure: ({ progress, missing }) =>
      benchArrays({
        ...options,
        onRow: ({ op, provider, elements }) => progress(`${provider}: ${op}, ${formatCount(elements)} elements`),
        onMissing: missing,
      }),
  })
}

import { formatBytes, integerOption } from 'aether-dsm/internal/cli'
import { openDevice } from 'aether-dsm/internal/verbs'
import type { AlternatedRow } from '../bench/alternated/alternated-row.ts'
import { alternateCalls } from '../bench/alternated/calls.ts'
import { alternateMessages } from '../bench/alternated/messages.ts'
import { alternatedKind } from '../bench/results/alternated-kind.ts'
import {
  type BenchOption,
  type BenchValues,
  checkTaken,
  clientsMax,
  depthMax,
  deviceDefault,
  millisecondsOf,
  numbersOf,
  sizeMax,
} from './bench-options.ts'
import { type PreparedBench, prepareBench } from './bench-run.ts'

export type AlternatedName = 'messaging' | 'rpc'

/** Defaults with `--loads`. */
export const defaultRounds = 20
export const alternatedTimeMs = 100
export const alternatedSize = 32
const defaultDepths: readonly number[] = [1]
const defaultClients: readonly number[] = [4]
const busyMax = 64
const roundsMax = 1000

const takes: Readonly<Record<AlternatedName, readonly BenchOption[]>> = {
  messaging: ['device', 'sizes', 'time-ms', 'loads', 'rounds'],
  rpc: ['device', 'sizes', 'time-ms', 'depths', 'clients', 'loads', 'rounds'],
}

/** `aether bench messaging --loads`, `rpc --loads`. @throws UsageError, and AetherError if there is no such device. */
export function alternatedBenchOf(name: AlternatedName, values: BenchValues): PreparedBench {
  checkTaken(`${name} --loads`, values, takes[name])
  const { device = deviceDefault, rounds = String(defaultRounds) } = values
  const options = {
    device,
    sizes: numbersOf('sizes', values.sizes, [alternatedSize], 1, sizeMax),
    timeMs: millisecondsOf('time-ms', values['time-ms'], alternatedTimeMs),
    depths: numbersOf('depths', values.depths, defaultDepths, 1, depthMax),
    clients: numbersOf('clients', values.clients, defaultClients, 1, clientsMax),
    loads: numbersOf('loads', values.loads, [], 0, busyMax),
    rounds: integerOption('bench', '--rounds', rounds, 1, roundsMax),
  }
  openDevice(device).close()
  const measure = name === 'rpc' ? alternateCalls : alternateMessages
  return prepareBench({
    name,
    kind: alternatedKind,
    measure: ({ progress }) => measure({ ...options, onRow: (row) => progress(textOf(row)) }),
  })
}

function textOf({ op, bytes, busy }: AlternatedRow): string {
  return `${op}, ${formatBytes(bytes)}, beside ${busy} busy`
}

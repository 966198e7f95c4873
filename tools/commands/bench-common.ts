import { formatBytes, integerOption, UsageError } from 'aether-dsm/internal/cli'
import { openDevice } from 'aether-dsm/internal/verbs'
import { type AgreementBenchOptions, benchAgreement, defaultAgreementProcesses } from '../bench/agreement/agreement.ts'
import { benchBandwidth } from '../bench/bandwidth.ts'
import { benchJobs, defaultJobsProcesses, type JobsBenchOptions } from '../bench/jobs/jobs.ts'
import { benchLatency, DEFAULT_TIME_MS } from '../bench/latency.ts'
import { benchMessaging } from '../bench/messaging.ts'
import { benchOps, defaultOpsProcesses, type OpsBenchOptions } from '../bench/ops/ops.ts'
import { benchReplicate, defaultReplicas, type ReplicateBenchOptions } from '../bench/replicate/replicate.ts'
import { type CommonName, commonKinds } from '../bench/results/common-kinds.ts'
import type { BenchRow } from '../bench/row.ts'
import { benchRpc, defaultClients, defaultDepths, type RpcBenchOptions } from '../bench/rpc.ts'
import { alternatedBenchOf } from './bench-alternated.ts'
import {
  type BenchOption,
  type BenchValues,
  clientsMax,
  depthMax,
  deviceDefault,
  millisecondsOf,
  numbersOf,
  peersOf,
  sizeMax,
} from './bench-options.ts'
import { type PreparedBench, prepareBench } from './bench-run.ts'

export type CommonOptions = RpcBenchOptions &
  OpsBenchOptions &
  JobsBenchOptions &
  ReplicateBenchOptions &
  AgreementBenchOptions

const processesMax = 64
const killsMax = 100_000

const measures: Readonly<Record<CommonName, (options: CommonOptions) => Promise<BenchRow[]>>> = {
  latency: benchLatency,
  bandwidth: benchBandwidth,
  messaging: benchMessaging,
  rpc: benchRpc,
  ops: benchOps,
  jobs: benchJobs,
  replicate: benchReplicate,
  agreement: benchAgreement,
}

/** Benchmarks whose rows have the same fields, in the order in which they run, with their options. */
export const commonTakes: Readonly<Record<CommonName, readonly BenchOption[]>> = {
  latency: ['device', 'sizes', 'time-ms', 'peers'],
  bandwidth: ['device', 'sizes', 'time-ms', 'peers'],
  messaging: ['device', 'sizes', 'time-ms', 'peers', 'loads', 'rounds'],
  rpc: ['device', 'sizes', 'time-ms', 'peers', 'depths', 'clients', 'loads', 'rounds'],
  ops: ['device', 'sizes', 'time-ms', 'peers', 'processes'],
  jobs: ['time-ms', 'peers', 'processes'],
  replicate: ['sizes', 'time-ms', 'peers', 'processes', 'kills'],
  agreement: ['device', 'time-ms', 'processes'],
}

/** @throws UsageError, and AetherError if there is no such device, before a second process fails because of it. */
export function commonBenchOf(name: CommonName, values: BenchValues): PreparedBench {
  if (values.loads !== undefined && (name === 'messaging' || name === 'rpc')) return alternatedBenchOf(name, values)
  if (values.rounds !== undefined) throw new UsageError('--rounds needs --loads', 'bench')
  const device = values.device ?? deviceDefault
  const options: CommonOptions = {
    device,
    ...(values.device !== undefined && { devices: [device] }),
    // Without this option, each benchmark has its own sizes.
    ...(values.sizes !== undefined && { sizes: numbersOf('sizes', values.sizes, [], 1, sizeMax) }),
    timeMs: millisecondsOf('time-ms', values['time-ms'], DEFAULT_TIME_MS),
    peers: peersOf(values.peers),
    depths: numbersOf('depths', values.depths, defaultDepths, 1, depthMax),
    clients: numbersOf('clients', values.clients, defaultClients, 1, clientsMax),
    processes: numbersOf('processes', values.processes, defaultProcesses(name), 1, processesMax),
    ...(values.kills !== undefined && { kills: integerOption('bench', '--kills', values.kills, 1, killsMax) }),
  }
  const even =
    name === 'replicate' || name === 'agreement' ? options.processes?.find((count) => count % 2 === 0) : undefined
  if (even !== undefined) throw new UsageError(`--processes ${even}: replicas are an odd number, as 3 or 5`, 'bench')
  openDevice(device).close()
  return commonBench(name, options)
}

/** Numbers of processes that a benchmark takes. */
function defaultProcesses(name: CommonName): readonly number[] {
  if (name === 'replicate') return defaultReplicas
  if (name === 'agreement') return defaultAgreementProcesses
  return name === 'jobs' ? defaultJobsProcesses : defaultOpsProcesses
}

export function commonBench(name: CommonName, options: CommonOptions): PreparedBench {
  return prepareBench({
    name,
    kind: commonKinds[name],
    measure: ({ progress, missing }) =>
      measures[name]({
        ...options,
        onRow: ({ op, bytes }) => progress(`${op}, ${formatBytes(bytes)}`),
        onMissing: missing,
      }),
  })
}

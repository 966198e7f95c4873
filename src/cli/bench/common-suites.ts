import { batchNotes, messagingNotes, opsNotes, rpcNotes } from '../bench-view.ts'
import { benchBandwidth } from './bandwidth.ts'
import { benchLatency } from './latency.ts'
import { benchMessaging } from './messaging.ts'
import { benchOps, type OpsBenchOptions } from './ops/ops.ts'
import type { BenchRow } from './row.ts'
import { benchRpc, type RpcBenchOptions } from './rpc.ts'

/** A benchmark whose rows are {@link BenchRow}s: what `--compare` and `--html` are for. */
export interface CommonSuite {
  readonly run: (options: RpcBenchOptions & OpsBenchOptions) => Promise<BenchRow[]>
  /** How to read its table. */
  readonly notes: readonly string[]
}

export const commonSuites: Readonly<Record<string, CommonSuite>> = {
  latency: { run: benchLatency, notes: batchNotes },
  bandwidth: { run: benchBandwidth, notes: batchNotes },
  messaging: { run: benchMessaging, notes: messagingNotes },
  rpc: { run: benchRpc, notes: rpcNotes },
  ops: { run: benchOps, notes: opsNotes },
}

import { type TraceChannel, TraceLevel, traceChannel } from '../profiling/index.ts'
import {
  type CompletionBatch,
  CompletionStatus,
  type EncodedRequest,
  lengthOf,
  Opcode,
  RequestSlot,
  statusName,
} from '../providers/index.ts'

/** The channel `aether:rdma`. It reports how long requests and memory are, never their contents, addresses or keys. */
export const rdmaTrace: TraceChannel = traceChannel('rdma')

const opcodeNames = new Map(Object.entries(Opcode).map(([name, opcode]) => [opcode as number, name]))

/** Trace a request handed to the device. */
export function tracePost(queuePair: number, { words }: EncodedRequest): void {
  rdmaTrace.publish(TraceLevel.Trace, 'post', () => {
    const operation = opcodeNames.get(words[RequestSlot.Opcode]!)
    return { queuePair, operation, id: words[RequestSlot.Id], length: lengthOf(words) }
  })
}

/** Trace completed requests: every failed one, and the others too if every operation is traced. */
export function traceCompletions(batch: CompletionBatch, count: number): void {
  for (let row = 0; row < count; row += 1) {
    const status = batch.status[row]!
    const isGood = status === CompletionStatus.Success
    const level = isGood ? TraceLevel.Trace : isFlush(status) ? TraceLevel.Debug : TraceLevel.Warn
    rdmaTrace.publish(level, isGood ? 'completion' : 'failed', () => ({
      queuePair: batch.queuePairNumber[row],
      id: batch.id[row],
      status: statusName(status),
      ...(isGood ? { length: batch.byteLength[row] } : { vendorError: batch.vendorError[row] }),
    }))
  }
}

/** What was outstanding when a queue pair failed or was closed: the cause is told before. */
const isFlush = (status: number): boolean => status === CompletionStatus.WorkRequestFlushed

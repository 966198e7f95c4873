import process from 'node:process'
import { isMainThread, threadId } from 'node:worker_threads'

/** Who speaks in a trace: the rank of this process, and what this thread is called. */
export interface TraceIdentity {
  readonly rank: number | undefined
  readonly threadName: string
}

const ranked = /^\d+$/.exec(process.env['AETHER_RANK'] ?? '')
let identity: TraceIdentity = {
  rank: ranked === null ? undefined : Number(ranked[0]),
  threadName: isMainThread ? 'main' : `worker ${threadId}`,
}

export const traceIdentity = (): TraceIdentity => identity

/** Say who this thread is: from then on its events do. */
export function identifyTrace(own: Partial<TraceIdentity>): void {
  identity = { ...identity, ...own }
}

/** CLOCK_MONOTONIC in nanoseconds. */
export function traceClockNs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e9 + nanoseconds
}

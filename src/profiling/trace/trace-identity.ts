import process from 'node:process'
import { isMainThread, threadId } from 'node:worker_threads'

/** The source of a trace: the rank of this process and the name of this thread. */
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

/** Set the identity of this thread, for its events from then on. */
export function identifyTrace(own: Partial<TraceIdentity>): void {
  identity = { ...identity, ...own }
}

/** Return CLOCK_MONOTONIC in nanoseconds. */
export function traceClockNs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e9 + nanoseconds
}

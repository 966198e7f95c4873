import type { TraceMessage } from './trace-message.ts'
import { traceValue } from './trace-value.ts'

/**
 * One event of the Trace Event Format (Google, "Trace Event Format", 2016; read by Perfetto and chrome://tracing), as far as it is used here. Times are
 * microseconds, with nanoseconds behind the point.
 */
export interface TraceEvent {
  readonly name?: string
  readonly cat?: string
  /** B and E: a slice begins and ends; X: a whole one; i: a moment; s, t, f: a flow begins, goes on, ends; M: a name for something. */
  readonly ph: 'B' | 'E' | 'X' | 'i' | 's' | 't' | 'f' | 'M'
  readonly ts?: number
  readonly dur?: number
  readonly pid: number
  readonly tid: number
  /** Of a moment: how far it is drawn; t: its thread. */
  readonly s?: 't'
  readonly id?: number
  /** Of a flow's end: e, at the slice around it. */
  readonly bp?: 'e'
  readonly args?: Readonly<Record<string, number | string | boolean | null>>
}

/** A process has so many numbers for threads and lanes, so that they are unique among processes. */
const NUMBERS = 256
const LANES = 128

/** The number under which a thread of a process is drawn. */
export function threadNumber(processId: number, thread: number): number {
  return processId * NUMBERS + (thread < LANES ? thread : 1 + ((thread - 1) % (LANES - 1)))
}

/** So many lanes a thread has at most, over all of its tracks; what does not fit is not drawn. */
export const LANES_PER_THREAD = 32

/** The number under which lane `lane` of a thread is drawn. Threads beyond the fourth share the lanes of the first ones. */
export function laneNumber(processId: number, thread: number, lane: number): number {
  return processId * NUMBERS + LANES + (thread % (LANES / LANES_PER_THREAD)) * LANES_PER_THREAD + lane
}

/** Nanoseconds as the format wants them. */
export const microseconds = (ns: number): number => Math.round(ns) / 1000

/** The fields of a message as arguments of an event. */
export function traceArguments(message: TraceMessage): Record<string, number | string | boolean | null> {
  const args: Record<string, number | string | boolean | null> = {}
  for (const [name, value] of Object.entries(message.fields))
    if (value !== undefined) args[name] = traceValue(name, value)
  return args
}

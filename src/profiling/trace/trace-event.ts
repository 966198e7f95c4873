import type { TraceMessage } from './trace-message.ts'
import { traceValue } from './trace-value.ts'

/**
 * One event of the Trace Event Format (Google, "Trace Event Format", 2016; read by Perfetto and chrome://tracing), as
 * far as it is used here. Times are microseconds, with nanoseconds behind the point.
 */
export interface TraceEvent {
  readonly name?: string
  readonly cat?: string
  /**
   * B and E: a slice begins and ends; X: a whole one; i: a moment; s, t, f: a flow begins, goes on, ends; M: a name for
   * something.
   */
  readonly ph: 'B' | 'E' | 'X' | 'i' | 's' | 't' | 'f' | 'M'
  readonly ts?: number
  readonly dur?: number
  readonly pid: number
  /** In a part the line of its thread, in a file the number of the line among all. */
  readonly tid: number
  /** Of a moment: how far it is drawn; t: its thread. */
  readonly s?: 't'
  readonly id?: number
  /** Of a flow's end: e, at the slice around it. */
  readonly bp?: 'e'
  readonly args?: Readonly<Record<string, number | string | boolean | null>>
}

/** So many lanes a thread has at most, over all of its tracks; what does not fit is not drawn. */
export const LANES_PER_THREAD = 32
/** The line of a thread itself, in its part. */
export const THREAD_LINE = 0

/** The line of lane `lane` of a thread, in its part. */
export const laneLine = (lane: number): number => THREAD_LINE + 1 + lane

/** Beyond all numbers of processes: Perfetto takes what has the number of its process for its main thread. */
const LINES_FROM = 2 ** 22
const LINES_PER_PART = 64

/**
 * The number under which a line of a part is drawn in a file of several. Perfetto asks that threads have numbers of
 * their own among all processes, of 32 bits; so parts have them by their order, since number of process, thread and
 * lane together would not fit.
 */
export const lineNumber = (part: number, line: number): number => LINES_FROM + part * LINES_PER_PART + line

/** Nanoseconds as the format wants them. */
export const microseconds = (ns: number): number => Math.round(ns) / 1000

/** The fields of a message as arguments of an event. */
export function traceArguments(message: TraceMessage): Record<string, number | string | boolean | null> {
  const args: Record<string, number | string | boolean | null> = {}
  for (const [name, value] of Object.entries(message.fields))
    if (value !== undefined) args[name] = traceValue(name, value)
  return args
}

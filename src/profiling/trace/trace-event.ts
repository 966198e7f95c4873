import type { TraceMessage } from './trace-message.ts'
import { traceValue } from './trace-value.ts'

/**
 * One event of the Trace Event Format (Google, "Trace Event Format", 2016; read by Perfetto and chrome://tracing), as
 * far as it is used here. Times are microseconds with a fraction for nanoseconds.
 */
export interface TraceEvent {
  readonly name?: string
  readonly cat?: string
  /**
   * B and E: start and end of a slice. X: a whole slice. `i`: a moment. `s`, `t`, `f`: start, step and end of a flow.
   * M: a name for an object.
   */
  readonly ph: 'B' | 'E' | 'X' | 'i' | 's' | 't' | 'f' | 'M'
  readonly ts?: number
  readonly dur?: number
  readonly pid: number
  /** In a part, the line within its thread; in a file, the number of the line among all. */
  readonly tid: number
  /** For a moment: how far it is drawn. t: its thread. */
  readonly s?: 't'
  readonly id?: number
  /** For the end of a flow. e: bound to the slice around it. */
  readonly bp?: 'e'
  readonly args?: Readonly<Record<string, number | string | boolean | null>>
}

/** The most lanes of a thread, over all of its tracks. What does not fit is not drawn. */
export const LANES_PER_THREAD = 32
/** The line of a thread itself in its part. */
export const THREAD_LINE = 0

/** The line of lane `lane` of a thread in its part. */
export const laneLine = (lane: number): number => THREAD_LINE + 1 + lane

/** Beyond all numbers of processes: Perfetto takes what has the number of its process for its main thread. */
const LINES_FROM = 2 ** 22
const LINES_PER_PART = 64

/**
 * The number of a part's line in a file of several parts. Perfetto needs thread numbers that are unique among all
 * processes and fit 32 bits. So they come from the order of the parts: process number, thread and lane together would
 * not fit.
 */
export const lineNumber = (part: number, line: number): number => LINES_FROM + part * LINES_PER_PART + line

/** Convert nanoseconds to what the format wants. */
export const microseconds = (ns: number): number => Math.round(ns) / 1000

/** The fields of a message as arguments of an event. */
export function traceArguments(message: TraceMessage): Record<string, number | string | boolean | null> {
  const args: Record<string, number | string | boolean | null> = {}
  for (const [name, value] of Object.entries(message.fields))
    if (value !== undefined) args[name] = traceValue(name, value)
  return args
}

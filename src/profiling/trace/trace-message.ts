import type { TraceLevel } from './trace-level.ts'

/**
 * What an event may contain: names, numbers and short lists of them. Never bytes that a program shares, a key or a
 * secret.
 */
export type TraceFields = Readonly<Record<string, unknown>>

/**
 * How an event is drawn in a trace file if it is more than a moment.
 *
 * - `step`: the calling thread was busy with it from `sinceNs` until now; not printed.
 * - `start`: a step that is reported when it is done; not drawn.
 * - `begin` and `end`: work that runs beside what the thread does. Slices of one `track` lie side by side, and one `id`
 *   of a track has one start and one end.
 */
export type TraceSlice =
  | { readonly phase: 'start' }
  | { readonly phase: 'step'; readonly name: string; readonly sinceNs: number; readonly flow?: string }
  | {
      readonly phase: 'begin'
      readonly name: string
      readonly track: string
      readonly id: number
      /**
       * Names what this slice caused, in any process. Each `step` of the same flow between its start and its end
       * belongs to it, and arrows join them. No two slices of one flow may be under way at a time.
       */
      readonly flow?: string
      /**
       * The flow of a `begin`, in any process, that this slice was done for. One arrow leads from there to here.
       * Another leads from the end of this slice to the end of that one, which waits for it.
       */
      readonly answers?: string
    }
  | { readonly phase: 'end'; readonly track: string; readonly id: number }

/** What subscribers of a trace channel receive. */
export interface TraceMessage {
  /** `dsm` for the channel `aether:dsm`. */
  readonly channel: string
  readonly level: TraceLevel
  /** CLOCK_MONOTONIC in nanoseconds: the same clock in every process of the machine. */
  readonly timeNs: number
  /** The rank of the process in its group; undefined outside a group. */
  readonly rank: number | undefined
  /** What happened: `fault`, `connected`, … */
  readonly type: string
  readonly fields: TraceFields
  readonly slice: TraceSlice | undefined
}

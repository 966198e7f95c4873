import type { TraceLevel } from './trace-level.ts'

/**
 * What may be said of an event: names, numbers and short lists of them; never bytes that a program shares, a key or a
 * secret.
 */
export type TraceFields = Readonly<Record<string, unknown>>

/**
 * How an event is drawn in a trace file, where it is more than a moment.
 *
 * `step`: the calling thread was busy with it from `sinceNs` until now; not printed. `start`: a step that will be told
 * when it is done; not drawn. `begin` and `end`: something that takes its time beside what the thread does; such of one
 * `track` lie side by side, and one `id` of a track has one beginning and one end.
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
       * Names what this caused, at any process: each `step` of the same flow between this beginning and its end belongs
       * to it, and is joined to it by arrows. No two of one flow may be under way at a time.
       */
      readonly flow?: string
      /**
       * The flow of a `begin`, at any process, that this was done for: an arrow leads from there to here, and one from
       * the end of this to the end of that, which waits for it.
       */
      readonly answers?: string
    }
  | { readonly phase: 'end'; readonly track: string; readonly id: number }

/** What subscribers of a trace channel get. */
export interface TraceMessage {
  /** `dsm` for the channel `aether:dsm`. */
  readonly channel: string
  readonly level: TraceLevel
  /** CLOCK_MONOTONIC in nanoseconds: the same clock in every process of the machine. */
  readonly timeNs: number
  /** Of the process in its group; undefined outside a group. */
  readonly rank: number | undefined
  /** What happened: `fault`, `connected`, … */
  readonly type: string
  readonly fields: TraceFields
  readonly slice: TraceSlice | undefined
}

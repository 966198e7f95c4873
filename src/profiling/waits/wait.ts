/** The kind of wait: for the right to a page, a lock, all ranks at a barrier, the other ranks of a collective, … */
export type WaitKind =
  | 'page'
  | 'lock'
  | 'barrier'
  | 'collective'
  | 'agent'
  | 'structure'
  | 'call'
  | 'connection'
  /** Room at a peer for a message, or its fetching of one. */
  | 'message'
  /** Leave to send the next item of a stream. */
  | 'stream'

/** One wait: its object, its state, its start, and the processes it depends on. */
export interface Wait {
  readonly kind: WaitKind
  /** What is waited for: `page 812 of region 'ranks'`, `lock 'group/accounts'`. */
  readonly object: string
  /** The progress of the wait, and what is known of the processes it depends on, in words. */
  readonly state: string
  /** On the machine's monotonic clock (CLOCK_MONOTONIC), in nanoseconds. */
  readonly sinceNs: number
  /** The ranks that it waits for, if it is a group's wait and they are known. */
  readonly ranks: readonly number[]
  /** The processes of this machine that it waits for, if they are not ranks and are known. */
  readonly processes: readonly number[]
}

/** A {@link Wait} with a key that tells it from others of its thread. */
export interface KeyedWait extends Wait {
  readonly key: string
}

/** Return CLOCK_MONOTONIC in nanoseconds, the same clock for all processes of a machine. */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint())
}

/** `5.0 s`, `350 ms`, `2 min 5 s`. */
export function durationInWords(ns: number): string {
  const seconds = Math.max(0, ns) / 1e9
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 120) return `${seconds.toFixed(1)} s`
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`
}

/** `rank 0 has waited 5.0 s for page 812 of region 'ranks': rank 1 has it and does not answer`. */
export function waitInWords(who: string, { object, state, sinceNs }: Wait, nowNs: number): string {
  return `${who} has waited ${durationInWords(nowNs - sinceNs)} for ${object}${state === '' ? '' : `: ${state}`}`
}

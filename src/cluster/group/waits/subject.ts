import type { WaitKind } from '../../../profiling/index.ts'
import type { LockMode } from '../locks/index.ts'

/** What ranks are asked about if a wait lasts too long. */
export type WaitSubject =
  | { readonly about: 'page'; readonly region: number; readonly page: number; readonly write: boolean }
  | { readonly about: 'lock'; readonly name: string; readonly token: number; readonly mode: LockMode }
  | { readonly about: 'barrier'; readonly generation: number }
  /** No rank has to be asked. */
  | { readonly about: 'known'; readonly ranks: readonly number[]; readonly state: string }

/** A wait of this rank, before the awaited ranks are known. */
export interface OpenWait {
  readonly key: string
  readonly kind: WaitKind
  readonly object: string
  /** `Infinity` if only the fact of waiting is known, not its start. */
  readonly sinceNs: number
  readonly subject: WaitSubject
  /** It may last: shown on request, but not reported. */
  readonly isQuiet?: boolean
  /** Another thread of this process has written it down, and reports it. */
  readonly isTold?: boolean
}

/** The result of asking: the awaited ranks, and the state of the wait. */
export interface WaitFinding {
  readonly ranks: readonly number[]
  readonly state: string
}

/** What the ranks have reported about a subject: each its own part. */
export interface SubjectAnswers {
  readonly self: number
  /** By rank, this one's included. */
  readonly said: ReadonlyMap<number, unknown>
  /** Members of the group that have not answered. */
  readonly silent: readonly number[]
}

/** A part of the agent that waits. */
export interface WaitingPart {
  /** What it waits for at this moment. */
  waits(): Iterable<OpenWait>
  /** What this rank knows of a subject of this part's kind, as JSON. Undefined if it is of another kind. */
  answer(subject: WaitSubject): unknown
  /** Which ranks the wait is for, as the ranks have reported; undefined if the subject is of another kind. */
  explain(subject: WaitSubject, answers: SubjectAnswers): WaitFinding | undefined
}

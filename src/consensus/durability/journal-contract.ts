import type { MessagePort } from 'node:worker_threads'
import { AetherError, messageOfThrown } from '../../native/index.ts'
import { ConsensusError, type ConsensusErrorKind } from '../errors.ts'
import type { Recovered, SnapshotHead } from '../replica/journal.ts'
import type { AppendPolicy } from './append-policy.ts'

/** What the journal's thread is started with. */
export interface JournalStart {
  readonly directory: string
  /** Of the replicated machine. */
  readonly name: string
  readonly append: AppendPolicy
  /** To the replica's thread: {@link JournalPart}s in arrays come from there, and counts go there. */
  readonly port: MessagePort
  /** The write end of a pipe, rung after each count. */
  readonly bell: number
}

export interface SnapshotPart {
  readonly head: SnapshotHead
  readonly parts: readonly Uint8Array[]
}

/** Records as `log-segment.ts` has them, or a snapshot. */
export type JournalPart = Uint8Array | SnapshotPart

/** `full`: what it was handed waits until the disk has room. */
export type JournalState = 'full' | 'well'

/** What the journal's thread tells the program. After `failed` it ends. */
export type JournalReport =
  | { readonly type: 'opened'; readonly id: number; readonly recovered: Recovered }
  | { readonly type: 'failed'; readonly error: PackedError }
  | { readonly type: 'state'; readonly state: JournalState }

/** What the program tells the journal's thread: to end after what it was handed. */
export type JournalOrder = 'close'

/** A class does not survive the way between threads; its fields do. */
interface PackedError {
  readonly kind: ConsensusErrorKind
  readonly message: string
  readonly file: string | undefined
  readonly offset: number | undefined
}

export function packError(error: unknown): PackedError {
  if (error instanceof ConsensusError)
    return { kind: error.kind, message: error.message, file: error.file, offset: error.offset }
  const what = error instanceof Error && !(error instanceof AetherError) ? error.stack : messageOfThrown(error)
  return { kind: 'LOG_FAILED', message: `the thread of the log failed: ${what}`, file: undefined, offset: undefined }
}

export function unpackError({ kind, message, file, offset }: PackedError): ConsensusError {
  const details = { ...(file === undefined ? {} : { file }), ...(offset === undefined ? {} : { offset }) }
  return new ConsensusError(kind, message, details)
}

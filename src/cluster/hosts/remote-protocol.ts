/**
 * What the launcher and its helper on another host send each other, through the standard input and output of an ssh:
 * frames (see frames.ts).
 *
 *   launcher → helper   JSON
 *   helper → launcher   kind, then JSON; or kind, rank (UInt16, most significant first), bytes that the rank has
 *                       written
 *
 * The helper's frames begin after a line of their own, because a login may print anything.
 */
import type { RankCommand } from '../rank-process.ts'
import { isIndex, isRecord } from './messages.ts'

export const OPENING_LINE = '\naether frames 1\n'
export const FrameKind = { Message: 1, Output: 2, ErrorOutput: 3 } as const
export const OUTPUT_HEAD_BYTES = 3
/**
 * The longest frame, in bytes. It has room for an environment with arguments, and for what one read of a pipe returns.
 */
export const REMOTE_FRAME_BYTES_MAX: number = 8 * 2 ** 20
/** How often the launcher shows that it lives. */
export const ALIVE_MS = 5000
/** After this time without a sign of life the helper ends its ranks, since nothing else would. */
export const ALIVE_MS_MAX = 30_000

/** The first order. */
export interface StartOrder {
  readonly type: 'start'
  readonly command: RankCommand
  readonly ranks: readonly number[]
  readonly directory: string
  /** Where the launcher listens. Without a host, it is the one that this connection comes from. */
  readonly host: string | null
  readonly port: number
  /** In base64. */
  readonly secret: string
}

export type RemoteOrder =
  | StartOrder
  | { readonly type: 'signal'; readonly rank: number; readonly signal: NodeJS.Signals }
  | { readonly type: 'alive' }

export type RemoteReport =
  | { readonly type: 'started'; readonly rank: number; readonly processId: number }
  | {
      readonly type: 'ended'
      readonly rank: number
      readonly exitCode: number | null
      readonly signal: NodeJS.Signals | null
      readonly error: string | null
    }
  | { readonly type: 'drained'; readonly rank: number }
  /** Nothing could be started. */
  | { readonly type: 'failed'; readonly message: string }

/** Undefined if it is not a report. */
export function checkReport(text: string): RemoteReport | undefined {
  const report = parse(text)
  if (!isRecord(report)) return undefined
  const { type, rank, processId, exitCode, signal, error, message } = report
  if (type === 'failed' && typeof message === 'string') return { type, message }
  if (!isIndex(rank)) return undefined
  if (type === 'started' && isIndex(processId)) return { type, rank, processId }
  if (type === 'drained') return { type, rank }
  const endsRight = (exitCode === null || isIndex(exitCode)) && (signal === null || typeof signal === 'string')
  if (type !== 'ended' || !endsRight || !(error === null || typeof error === 'string')) return undefined
  return { type, rank, exitCode, signal: signal as NodeJS.Signals | null, error }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

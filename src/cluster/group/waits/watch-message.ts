import type { WaitKind, WaitReading } from '../../../profiling/index.ts'
import { isIndex, isRecord } from '../../hosts/index.ts'
import { MESSAGE_BYTES_MAX } from '../mesh-limits.ts'
import type { WaitSubject } from './subject.ts'

/** What ranks are asked: about a subject, if any, and what they themselves wait for. */
export interface WatchQuestion {
  readonly watch: WaitSubject | null
}

/**
 * A wait of a rank, as others are told of it. It says for how long, not since when, because clocks of machines differ.
 */
export interface RankWait {
  readonly rank: number
  readonly kind: WaitKind
  /** `page 812 of region 'ranks'`, `lock 'group/accounts'`, … */
  readonly object: string
  /** In words. */
  readonly state: string
  /** The ranks that are waited for, as far as they are known. */
  readonly ranks: readonly number[]
  readonly waitedMs: number
}

export interface WatchAnswer {
  readonly said: unknown
  readonly waits: readonly RankWait[]
}

/** Room for the frame around it. */
const ANSWER_BYTES_MAX: number = MESSAGE_BYTES_MAX - 128

export function isWatchQuestion(question: unknown): question is WatchQuestion {
  if (!isRecord(question) || !('watch' in question)) return false
  const { watch } = question
  return watch === null || (isRecord(watch) && isSubject(watch))
}

function isSubject({ about, region, page, write, name, generation, token }: Record<string, unknown>): boolean {
  return (
    (about === 'page' && isIndex(region) && isIndex(page) && typeof write === 'boolean') ||
    (about === 'lock' && typeof name === 'string' && isIndex(token)) ||
    (about === 'barrier' && isIndex(generation))
  )
}

/** As many waits as fit into one message, the longest first. */
export function watchAnswer(said: unknown, waits: readonly RankWait[]): WatchAnswer {
  for (let count = waits.length; count > 0; count -= 1) {
    const answer = { said, waits: waits.slice(0, count) }
    if (Buffer.byteLength(JSON.stringify(answer)) <= ANSWER_BYTES_MAX) return answer
  }
  return { said, waits: [] }
}

/** Undefined if another rank's answer is malformed. */
export function readAnswer(rank: number, answer: unknown): WatchAnswer | undefined {
  if (!isRecord(answer) || !Array.isArray(answer['waits'])) return undefined
  const waits = (answer['waits'] as unknown[]).filter(isRankWait).map((wait) => ({ ...wait, rank }))
  return { said: answer['said'], waits }
}

function isRankWait(wait: unknown): wait is RankWait {
  if (!isRecord(wait)) return false
  const { kind, object, state, ranks, waitedMs } = wait
  const isText = typeof kind === 'string' && typeof object === 'string' && typeof state === 'string'
  return isText && Array.isArray(ranks) && ranks.every(isIndex) && typeof waitedMs === 'number'
}

/** A reading of this rank's table, for others. */
export function rankWaitOf(
  rank: number,
  reading: WaitReading,
  nowNs: number,
  ranksOf: (reading: WaitReading) => number[],
): RankWait {
  const { kind, object, state, sinceNs } = reading
  return {
    rank,
    kind,
    object,
    state,
    ranks: ranksOf(reading),
    waitedMs: Math.max(0, Math.round((nowNs - sinceNs) / 1e6)),
  }
}

/**
 * What a rank and the keeper of a rendezvous send each other after the handshake. The keeper gathers: in every round
 * each rank gives a value, and once all have, each is given all of them, by rank. It does not look into them. Later it
 * reports which ranks have ended.
 */
export type FromRank =
  | { readonly type: 'join'; readonly rank: number; readonly size: number; readonly value: unknown }
  | { readonly type: 'give'; readonly round: number; readonly value: unknown }
  | { readonly type: 'bye'; readonly why: string }

export type FromKeeper =
  | { readonly type: 'refused'; readonly reason: string }
  /** Ranks that are not here yet, and the latest refusal. */
  | { readonly type: 'missing'; readonly ranks: readonly number[]; readonly refusal: Refusal | null }
  | { readonly type: 'gathered'; readonly round: number; readonly values: readonly unknown[] }
  /** Sent also to the rank itself if it is considered dead; `certain`: its process has ended. */
  | { readonly type: 'ended'; readonly rank: number; readonly why: string; readonly certain: boolean }
  | { readonly type: 'bye' }

/** A process that the keeper did not let in. */
export interface Refusal {
  /** Where the process called from. */
  readonly address: string
  readonly reason: string
}

/** The longest text that is accepted from the other end, in characters. */
const TEXT_LENGTH_MAX = 500
const CONTROL_CHARACTERS = /\p{Cc}/gu

/** Undefined if it is not a message of a rank. */
export function checkFromRank(message: unknown): FromRank | undefined {
  if (!isRecord(message)) return undefined
  const { type, rank, size, round, value = null, why } = message
  if (type === 'join' && isIndex(rank) && isIndex(size)) return { type, rank, size, value }
  if (type === 'give' && isIndex(round)) return { type, round, value }
  return type === 'bye' && typeof why === 'string' ? { type, why: cleanText(why) } : undefined
}

/** Undefined if it is not a message of the keeper of a group of `size`. */
export function checkFromKeeper(message: unknown, size: number): FromKeeper | undefined {
  if (!isRecord(message)) return undefined
  const { type, reason, ranks, refusal, round, values, rank, why, certain } = message
  const isRank = (value: unknown): value is number => isIndex(value) && value < size
  if (type === 'refused' && typeof reason === 'string') return { type, reason: cleanText(reason) }
  if (type === 'missing' && Array.isArray(ranks) && ranks.every(isRank))
    return { type, ranks, refusal: checkRefusal(refusal) }
  if (type === 'gathered' && isIndex(round) && Array.isArray(values) && values.length === size)
    return { type, round, values }
  if (type === 'ended' && isRank(rank) && typeof why === 'string' && typeof certain === 'boolean')
    return { type, rank, why: cleanText(why), certain }
  return type === 'bye' ? { type } : undefined
}

function checkRefusal(value: unknown): Refusal | null {
  if (!isRecord(value) || typeof value['address'] !== 'string' || typeof value['reason'] !== 'string') return null
  return { address: cleanText(value['address']), reason: cleanText(value['reason']) }
}

/** Text from the other end, made safe to print. */
function cleanText(text: string): string {
  return text.slice(0, TEXT_LENGTH_MAX).replaceAll(CONTROL_CHARACTERS, ' ')
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 31
}

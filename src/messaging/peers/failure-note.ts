/** Why a group has failed, as its members tell each other. */
export interface FailureNote {
  readonly reason: 'lost' | 'mismatch' | 'gave-up'
  /** The rank that it is about. */
  readonly rank: number
  readonly sequence: number
  /** The call of the rank that noticed, or its reason. */
  readonly call: string
  /** The rank that noticed. */
  readonly by: number
}

const TEXT_MAX = 200
/** So that it fits the shortest ring as one message, whatever the text takes as JSON. */
const NOTE_BYTES_MAX = 400
const reasons: readonly string[] = ['lost', 'mismatch', 'gave-up'] satisfies FailureNote['reason'][]

export function encodeFailure(note: FailureNote): Uint8Array {
  for (let most = TEXT_MAX; ; most >>= 1) {
    const bytes = new TextEncoder().encode(JSON.stringify({ ...note, call: note.call.slice(0, most) }))
    if (bytes.length <= NOTE_BYTES_MAX || most === 0) return bytes
  }
}

function isRank(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0
}

/** Undefined for anything else. */
export function decodeFailure(bytes: Uint8Array): FailureNote | undefined {
  try {
    const note = JSON.parse(new TextDecoder().decode(bytes)) as Partial<Record<keyof FailureNote, unknown>>
    const { reason, rank, sequence, call, by } = note
    if (!reasons.includes(reason as string) || !isRank(rank) || !isRank(by)) return undefined
    if (!Number.isInteger(sequence) || typeof call !== 'string') return undefined
    return { reason, rank, sequence, call: call.slice(0, TEXT_MAX), by } as FailureNote
  } catch {
    return undefined
  }
}

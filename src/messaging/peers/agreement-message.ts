/** The messages of members while they agree on who goes on. */
export const AgreementStep = {
  /** I take part; with the ranks that I have lost. */
  Join: 0,
  /** Promise that you answer no earlier round. */
  Prepare: 1,
  /** I do; with what I accepted last, and the ranks that I have lost. */
  Promise: 2,
  /** This set goes on. */
  Propose: 3,
  Accept: 4,
  /** I have promised `round`; the same as yours: I have lost one of the set. */
  Refuse: 5,
  /** It was agreed. */
  Decided: 6,
  /** I take no part, and never will. */
  Gone: 7,
  /** I have given up; perhaps I ask again. */
  Rest: 8,
} as const

/** A set of ranks that was proposed. */
export interface Proposal {
  readonly round: number
  readonly ranks: readonly number[]
  /**
   * True if it may have been agreed on in an earlier round, so that it stands although one of its ranks may be gone.
   */
  readonly recovers: boolean
}

export interface AgreementMessage {
  readonly step: number
  /** The sender agrees without a majority. */
  readonly any: boolean
  readonly round: number
  readonly proposal: Proposal | undefined
  /** Ranks that the sender cannot reach. */
  readonly lost: ReadonlySet<number>
}

const HEAD_BYTES = 16
const STEP_MAX = 8
/** The maximum leaves a number for the leader of the next round. */
const ROUND_MAX = 2 ** 31

/**
 * Little-endian:
 *
 * ```
 * 0 step | 1 flags: 1 any, 2 recovers, 4 with a proposal | 2 size of the group, 2 bytes | 4 round, 4 bytes
 *        | 8 round of the proposal, 4 bytes | 12 zero
 * 16 the lost, a bit for each rank, in whole bytes | the proposal's ranks, the same
 * ```
 */
export function encodeAgreement(message: AgreementMessage, size: number): Uint8Array {
  const { step, any, round, proposal, lost } = message
  const setBytes = (size + 7) >> 3
  const bytes = new Uint8Array(HEAD_BYTES + 2 * setBytes)
  const view = new DataView(bytes.buffer)
  bytes[0] = step
  bytes[1] = (any ? 1 : 0) | (proposal?.recovers ? 2 : 0) | (proposal === undefined ? 0 : 4)
  view.setUint16(2, size, true)
  view.setUint32(4, round, true)
  view.setUint32(8, proposal?.round ?? 0, true)
  write(bytes, HEAD_BYTES, lost)
  write(bytes, HEAD_BYTES + setBytes, proposal?.ranks ?? [])
  return bytes
}

/** Undefined for anything but a message of a group of this size. */
export function decodeAgreement(bytes: Uint8Array, size: number): AgreementMessage | undefined {
  const setBytes = (size + 7) >> 3
  if (bytes.length !== HEAD_BYTES + 2 * setBytes) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const [step = 0, flags = 0] = bytes
  const round = view.getUint32(4, true)
  if (step > STEP_MAX || view.getUint16(2, true) !== size || round > ROUND_MAX) return undefined
  const ranks = read(bytes, HEAD_BYTES + setBytes, size)
  const recovers = (flags & 2) !== 0
  const proposal = (flags & 4) === 0 ? undefined : { round: view.getUint32(8, true), ranks, recovers }
  const needs = step === AgreementStep.Propose || step === AgreementStep.Decided
  if (needs && (proposal === undefined || ranks.length === 0)) return undefined
  return { step, any: (flags & 1) !== 0, round, proposal, lost: new Set(read(bytes, HEAD_BYTES, size)) }
}

/** The largest group whose messages fit into this many bytes. */
export function agreementSizeMax(bytes: number): number {
  return Math.min(2 ** 16 - 1, ((bytes - HEAD_BYTES) >> 1) * 8)
}

function write(bytes: Uint8Array, at: number, ranks: Iterable<number>): void {
  for (const rank of ranks) bytes[at + (rank >> 3)] = bytes[at + (rank >> 3)]! | (1 << (rank & 7))
}

function read(bytes: Uint8Array, at: number, size: number): number[] {
  const ranks: number[] = []
  for (let rank = 0; rank < size; rank += 1) if ((bytes[at + (rank >> 3)]! & (1 << (rank & 7))) !== 0) ranks.push(rank)
  return ranks
}

import type { MembershipStatement } from './membership-machine.ts'
import { MeshChannel } from './mesh-channel.ts'

/**
 * How a {@link MembershipStatement} travels:
 *
 *   byte 0 channel, 1 -, 2..3 count of candidates   UInt32 [1] epoch
 *   then members, out, certain: a bit for each rank, in whole UInt32
 *   then admitted and each candidate, as two UInt32: low, high
 */
const HEAD_BYTES = 8
const SETS = 3
/** One for each sponsor at most. With all else they fit into a message of the mesh. */
const CANDIDATES_MAX = 64
const HALF = 2 ** 32

const wordsFor = (size: number): number => Math.ceil(size / 32)

export function encodeStatement(statement: MembershipStatement, size: number): Uint8Array {
  const words = wordsFor(size)
  const { epoch, members, out, certain, admitted } = statement
  const joining = statement.joining.slice(0, CANDIDATES_MAX)
  const bytes = new Uint8Array(HEAD_BYTES + 4 * SETS * words + 8 * (1 + joining.length))
  const numbers = new Uint32Array(bytes.buffer)
  numbers[0] = joining.length << 16
  bytes[0] = MeshChannel.Membership
  numbers[1] = epoch
  for (const [index, ranks] of [members, out, certain].entries())
    for (const rank of ranks) numbers[2 + index * words + (rank >>> 5)]! |= 1 << (rank & 31)
  const rest = 2 + SETS * words
  for (const [index, candidate] of [admitted, ...joining].entries())
    numbers.set([candidate % HALF, Math.floor(candidate / HALF)], rest + 2 * index)
  return bytes
}

/** Undefined if the bytes are not a statement in a group of `size`. */
export function decodeStatement(received: Uint8Array, size: number): MembershipStatement | undefined {
  const words = wordsFor(size)
  const count = (received.length - HEAD_BYTES - 4 * SETS * words) / 8 - 1
  if (!Number.isInteger(count) || count < 0 || count > CANDIDATES_MAX) return undefined
  const numbers = new Uint32Array(received.slice().buffer)
  const sets = Array.from({ length: SETS }, (_, index) =>
    ranksIn(numbers.subarray(2 + index * words, 2 + (index + 1) * words)),
  )
  if (numbers[0]! >>> 16 !== count || sets.some((ranks) => (ranks.at(-1) ?? 0) >= size)) return undefined
  const rest = 2 + SETS * words
  const [admitted, ...joining] = Array.from(
    { length: 1 + count },
    (_, index) => numbers[rest + 2 * index]! + HALF * numbers[rest + 2 * index + 1]!,
  )
  const [members, out, certain] = sets as [number[], number[], number[]]
  return { epoch: numbers[1]!, members, out, certain, joining, admitted: admitted! }
}

function ranksIn(words: Uint32Array): number[] {
  return Array.from({ length: 32 * words.length }, (_, rank) => rank).filter(
    (rank) => ((words[rank >>> 5]! >>> (rank & 31)) & 1) === 1,
  )
}

import type { MembershipStatement } from './membership-machine.ts'
import { MeshChannel } from './mesh-channel.ts'

/**
 * How a {@link MembershipStatement} travels:
 *
 *   byte 0 channel, 1..3 -   UInt32 [1] epoch   then members, out, certain: a bit for each rank, in whole UInt32
 */
const HEAD_BYTES = 8
const SETS = 3

const wordsFor = (size: number): number => Math.ceil(size / 32)

export function encodeStatement(statement: MembershipStatement, size: number): Uint8Array {
  const words = wordsFor(size)
  const bytes = new Uint8Array(HEAD_BYTES + 4 * SETS * words)
  const numbers = new Uint32Array(bytes.buffer)
  bytes[0] = MeshChannel.Membership
  numbers[1] = statement.epoch
  const { members, out, certain } = statement
  for (const [index, ranks] of [members, out, certain].entries())
    for (const rank of ranks) numbers[2 + index * words + (rank >>> 5)]! |= 1 << (rank & 31)
  return bytes
}

/** Undefined if the bytes are not a statement in a group of `size`. */
export function decodeStatement(received: Uint8Array, size: number): MembershipStatement | undefined {
  const words = wordsFor(size)
  if (received.length !== HEAD_BYTES + 4 * SETS * words) return undefined
  const numbers = new Uint32Array(received.slice().buffer)
  const sets = Array.from({ length: SETS }, (_, index) =>
    ranksIn(numbers.subarray(2 + index * words, 2 + (index + 1) * words)),
  )
  if (sets.some((ranks) => (ranks.at(-1) ?? 0) >= size)) return undefined
  const [members, out, certain] = sets as [number[], number[], number[]]
  return { epoch: numbers[1]!, members, out, certain }
}

function ranksIn(words: Uint32Array): number[] {
  return Array.from({ length: 32 * words.length }, (_, rank) => rank).filter(
    (rank) => ((words[rank >>> 5]! >>> (rank & 31)) & 1) === 1,
  )
}

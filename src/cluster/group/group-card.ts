import type { RemoteEndpoint } from '../../verbs/index.ts'
import { CARD_BYTES_MAX } from '../card.ts'

/**
 * What a rank publishes in its space so that the others can connect:
 *
 *   UInt32: [0] magic  [1] rank  [2] size  [3] local identifier, or 0   [4..7] gid, most significant first
 *        [8 + 2 r] queue pair number for rank r  [9 + 2 r] its psn
 */
const MAGIC = 0x61657467
const HEAD_WORDS = 8

export interface GroupCard {
  readonly rank: number
  readonly size: number
  /** For each rank, how its agent reaches the publisher's. */
  readonly endpoints: readonly RemoteEndpoint[]
}

/** How many ranks a card has room for. */
export const GROUP_SIZE_MAX: number = Math.floor((CARD_BYTES_MAX / 4 - HEAD_WORDS) / 2)

export function encodeGroupCard(card: GroupCard): Uint8Array {
  const words = new Uint32Array(HEAD_WORDS + 2 * card.size)
  words.set([MAGIC, card.rank, card.size, localIdentifierOf(card)])
  card.endpoints.forEach(({ gid, queuePairNumber, psn }, rank) => {
    for (let part = 0; part < 4; part += 1) words[4 + part] = Number((gid >> BigInt(32 * (3 - part))) & 0xffffffffn)
    words.set([queuePairNumber, psn], HEAD_WORDS + 2 * rank)
  })
  return new Uint8Array(words.buffer)
}

/** Undefined if the bytes are not a card of a group of `size` ranks. */
export function decodeGroupCard(bytes: Uint8Array, size: number): GroupCard | undefined {
  if (bytes.byteLength !== 4 * (HEAD_WORDS + 2 * size)) return undefined
  const words = new Uint32Array(Uint8Array.from(bytes).buffer)
  const rank = words[1]!
  if (words[0] !== MAGIC || words[2] !== size || rank >= size) return undefined
  let gid = 0n
  for (let part = 0; part < 4; part += 1) gid = (gid << 32n) | BigInt(words[4 + part]!)
  const localIdentifier = words[3]!
  const endpoints = Array.from({ length: size }, (_, peer) => ({
    gid,
    ...(localIdentifier === 0 ? {} : { localIdentifier }),
    queuePairNumber: words[HEAD_WORDS + 2 * peer]!,
    psn: words[HEAD_WORDS + 2 * peer + 1]!,
  }))
  return { rank, size, endpoints }
}

/**
 * Rank and size in a card, for a reader that does not know the group; undefined if the bytes are not a group's card.
 */
export function readGroupCard(bytes: Uint8Array): { readonly rank: number; readonly size: number } | undefined {
  if (bytes.byteLength < 4 * HEAD_WORDS || bytes.byteLength % 4 !== 0) return undefined
  const words = new Uint32Array(Uint8Array.from(bytes).buffer)
  const card = decodeGroupCard(bytes, words[2]!)
  return card && { rank: card.rank, size: card.size }
}

/** All endpoints are of one port, except the publisher's own, which it does not use. */
function localIdentifierOf({ endpoints }: GroupCard): number {
  return endpoints.find((endpoint) => endpoint.localIdentifier !== undefined)?.localIdentifier ?? 0
}

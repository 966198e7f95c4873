import { MESSAGE_BYTES_MAX, MeshChannel } from '../../cluster/index.ts'
import { REPLICATED_PAGE_BYTES_MAX } from '../region-request.ts'

/**
 * How pages travel to the ranks that keep what was last fenced of them; in host order:
 *
 *   byte 0 channel, 1 kind   Int32 [1] region [2] page [3] token
 *        and of a part: [4] the page's first home [5] offset [6] total   bytes from 28 on
 *
 * The parts of one page follow each other. They are taken over when all are there, so that a sender that dies in the
 * middle leaves what was.
 */
const Kind = {
  /** A part of what a holder has. */
  Part: 1,
  /** A part of what another keeper has: of no use where the page is kept already. */
  Copy: 2,
  /** The page with this token is kept. */
  Kept: 3,
  /** All that was kept of the pages whose first home is `page` has been told. */
  Complete: 4,
} as const
const HEAD_BYTES = 28
const PART_BYTES_MAX = MESSAGE_BYTES_MAX - HEAD_BYTES

export interface ReplicaPage {
  readonly region: number
  readonly page: number
  readonly token: number
  /** The home of the page while every member lived. */
  readonly home: number
  readonly bytes: Uint8Array
}

export type ReplicaMessage =
  | {
      readonly kind: 'part' | 'copy'
      readonly region: number
      readonly page: number
      readonly token: number
      readonly home: number
      readonly offset: number
      readonly total: number
      /** Valid until the message has been handled. */
      readonly bytes: Uint8Array
    }
  | { readonly kind: 'kept'; readonly region: number; readonly token: number }
  | { readonly kind: 'complete'; readonly region: number; readonly home: number }

export function* encodePage(kind: 'part' | 'copy', replica: ReplicaPage): Generator<Uint8Array> {
  const { region, page, token, home, bytes } = replica
  for (let offset = 0; offset < bytes.length; offset += PART_BYTES_MAX) {
    const part = bytes.subarray(offset, offset + PART_BYTES_MAX)
    const message = head(kind === 'part' ? Kind.Part : Kind.Copy, HEAD_BYTES + part.length, [
      region,
      page,
      token,
      home,
      offset,
      bytes.length,
    ])
    message.set(part, HEAD_BYTES)
    yield message
  }
}

export function encodeKept(region: number, token: number): Uint8Array {
  return head(Kind.Kept, HEAD_BYTES, [region, 0, token])
}

export function encodeComplete(region: number, home: number): Uint8Array {
  return head(Kind.Complete, HEAD_BYTES, [region, home])
}

/** Undefined where the bytes are no such message. */
export function decodeReplica(bytes: Uint8Array): ReplicaMessage | undefined {
  if (bytes.length < HEAD_BYTES) return undefined
  const words = new Int32Array(bytes.slice(0, HEAD_BYTES).buffer)
  const [, region, page, token, home, offset, total] = words as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (bytes[1] === Kind.Kept) return { kind: 'kept', region, token }
  if (bytes[1] === Kind.Complete) return { kind: 'complete', region, home: page }
  if (bytes[1] !== Kind.Part && bytes[1] !== Kind.Copy) return undefined
  const part = bytes.subarray(HEAD_BYTES)
  const isSound =
    page >= 0 && part.length > 0 && offset >= 0 && offset + part.length <= total && total <= REPLICATED_PAGE_BYTES_MAX
  if (!isSound) return undefined
  return { kind: bytes[1] === Kind.Part ? 'part' : 'copy', region, page, token, home, offset, total, bytes: part }
}

function head(kind: number, lengthBytes: number, words: readonly number[]): Uint8Array {
  const message = new Uint8Array(lengthBytes)
  const numbers = new Int32Array(HEAD_BYTES / 4)
  numbers.set(words, 1)
  message.set(new Uint8Array(numbers.buffer))
  message[0] = MeshChannel.Replicas
  message[1] = kind
  return message
}

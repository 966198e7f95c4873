/**
 * MPA's request and reply, the first bytes of a stream of iWARP (RFC 5044, 7.1; RFC 6581, 9).
 *
 *     16 bytes of key │ flags and revision (2) │ length (2) │ IRD (2), ORD (2), if enhanced │ private data
 */
const KEY_BYTES = 16
const HEAD_BYTES = KEY_BYTES + 4
const DEPTH_BYTES = 4
/** What follows the head, in all. */
const PRIVATE_DATA_MAX = 512
/** No request or reply is longer. */
export const FRAME_BYTES_MAX: number = HEAD_BYTES + PRIVATE_DATA_MAX

const keys = { request: 'MPA ID Req Frame', reply: 'MPA ID Rep Frame' } as const
const Flag = { Markers: 0x8000, Crc: 0x4000, Reject: 0x2000, Enhanced: 0x1000 } as const
const REVISION_MASK = 0xff
/** Beside the IRD: the responder may send first, once the caller has shown that it is ready. */
const PEER_TO_PEER = 0x8000
/** Beside the IRD, and two beside the ORD: how the caller shows it. */
const READY_BY_SEND = 0x4000
const READY_BY_WRITE = 0x8000
const READY_BY_READ = 0x4000
const DEPTH_MASK = 0x3fff

/** What the caller of a stream sends first if it has nothing to say yet: a WRITE, a READ or a SEND of no bytes. */
export type ReadyMessage = 'none' | 'write' | 'read' | 'send'

export interface MpaDepths {
  /** READs that the other end may have under way at this one. */
  readonly ird: number
  /** READs that this end wants to have under way at the other one. */
  readonly ord: number
  /** The caller sends one of `ready` first. */
  readonly peerToPeer: boolean
  /** The messages that a request offers, or the one that a reply chose. */
  readonly ready: readonly ReadyMessage[]
}

export interface MpaFrame {
  readonly kind: keyof typeof keys
  readonly crc: boolean
  readonly rejected: boolean
  /** 1 or 2. A reply has that of its request. */
  readonly revision: number
  /** Missing in revision 1, and where a peer of revision 2 leaves them out. */
  readonly depths: MpaDepths | undefined
  readonly privateData: Uint8Array
}

export function encodeMpa({ kind, crc, rejected, revision, depths, privateData }: MpaFrame): Uint8Array {
  const depthBytes = depths === undefined ? 0 : DEPTH_BYTES
  const bytes = new Uint8Array(HEAD_BYTES + depthBytes + privateData.length)
  const view = new DataView(bytes.buffer)
  bytes.set(new TextEncoder().encode(keys[kind]))
  const flags = (crc ? Flag.Crc : 0) | (rejected ? Flag.Reject : 0) | (depths === undefined ? 0 : Flag.Enhanced)
  view.setUint16(KEY_BYTES, revision | flags)
  view.setUint16(KEY_BYTES + 2, depthBytes + privateData.length)
  if (depths !== undefined) {
    const { ird, ord, peerToPeer, ready } = depths
    const bySend = ready.includes('send') ? READY_BY_SEND : 0
    view.setUint16(HEAD_BYTES, ird | (peerToPeer ? PEER_TO_PEER : 0) | bySend)
    const ways = (ready.includes('write') ? READY_BY_WRITE : 0) | (ready.includes('read') ? READY_BY_READ : 0)
    view.setUint16(HEAD_BYTES + 2, ord | ways)
  }
  bytes.set(privateData, HEAD_BYTES + depthBytes)
  return bytes
}

/** `partial` while bytes are missing; `broken` for bytes that are not a frame, or ask for what is not spoken here. */
export function decodeMpa(bytes: Uint8Array, kind: keyof typeof keys): MpaFrame | 'partial' | 'broken' {
  const key = new TextDecoder('latin1').decode(bytes.subarray(0, KEY_BYTES))
  if (!keys[kind].startsWith(key)) return 'broken'
  if (bytes.length < HEAD_BYTES) return 'partial'
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const flags = view.getUint16(KEY_BYTES)
  const length = view.getUint16(KEY_BYTES + 2)
  const revision = flags & REVISION_MASK
  if (revision < 1 || revision > 2 || length > PRIVATE_DATA_MAX || (flags & Flag.Markers) !== 0) return 'broken'
  if (bytes.length < HEAD_BYTES + length) return 'partial'
  // Neither end may say more before the other one has answered.
  if (bytes.length > HEAD_BYTES + length) return 'broken'
  const isEnhanced = revision === 2 && (flags & Flag.Enhanced) !== 0
  if (isEnhanced && length < DEPTH_BYTES) return 'broken'
  return {
    kind,
    crc: (flags & Flag.Crc) !== 0,
    rejected: (flags & Flag.Reject) !== 0,
    revision,
    depths: isEnhanced ? decodeDepths(view.getUint16(HEAD_BYTES), view.getUint16(HEAD_BYTES + 2)) : undefined,
    privateData: Uint8Array.from(bytes.subarray(HEAD_BYTES + (isEnhanced ? DEPTH_BYTES : 0))),
  }
}

function decodeDepths(ird: number, ord: number): MpaDepths {
  const peerToPeer = (ird & PEER_TO_PEER) !== 0
  const ready: ReadyMessage[] = []
  if (peerToPeer && (ord & READY_BY_WRITE) !== 0) ready.push('write')
  if (peerToPeer && (ord & READY_BY_READ) !== 0) ready.push('read')
  if (peerToPeer && (ird & READY_BY_SEND) !== 0) ready.push('send')
  return { ird: ird & DEPTH_MASK, ord: ord & DEPTH_MASK, peerToPeer, ready }
}

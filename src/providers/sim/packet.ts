import type { EncodedRequest } from '../encoded-request.ts'
import type { Gid } from '../gid.ts'
import type { Host } from './host.ts'

/**
 * The kind of a packet, with the operation codes of the base transport header (IB specification 9.2.1) folded together.
 */
export const PacketKind = {
  Request: 0,
  ReadResponse: 1,
  AtomicResponse: 2,
  Acknowledge: 3,
  /** Negative acknowledgements. */
  ReceiverNotReady: 4,
  SequenceError: 5,
  Refused: 6,
} as const
export type PacketKind = (typeof PacketKind)[keyof typeof PacketKind]

/** What all packets of one message carry. */
export interface Message {
  readonly opcode: number
  /** The length of the whole message. */
  readonly lengthBytes: number
  readonly packets: number
  /** The length of every packet but the last. */
  readonly packetBytes: number
  readonly firstPsn: number
  readonly remoteAddress: number
  readonly remoteKey: number
  readonly immediate: number
  readonly solicited: boolean
  /** Operands of atomics. */
  readonly request: EncodedRequest
  /** Shared receive queue of XRC. */
  readonly sharedQueue: number
  /** For dynamic connections: which connection of the initiator's, and the key that it must know. */
  readonly session: number
  readonly accessKey: bigint
  /** Datagrams. */
  readonly queueKey: number
  readonly route: Uint8Array | undefined
}

/** The order of packets between two queue pairs: when the last one in this direction arrives. */
export interface Flow {
  lastArrivalNs: number
}

/** The device that has sent a packet. */
interface PacketSource {
  readonly gid: Gid
  readonly host: Host
}

export interface Packet {
  readonly kind: PacketKind
  readonly source: PacketSource
  readonly sourceNumber: number
  readonly targetGid: Gid
  readonly targetNumber: number
  readonly flow: Flow
  /** 24 bits. */
  readonly psn: number
  /** For requests: the message that the packet belongs to. */
  readonly message: Message | undefined
  /** The number of the packet in the message; for a READ, the first packet that is requested. */
  readonly index: number
  readonly payload: Uint8Array
  /** ReceiverNotReady: the timer's code. Refused: a CompletionStatus. */
  readonly value: number
  /** AtomicResponse: the old value. */
  readonly word: bigint
}

export const NO_BYTES: Uint8Array = new Uint8Array(0)

const PSN_MASK = 0xffffff

export function psnAfter(psn: number, count: number): number {
  return (psn + count) & PSN_MASK
}

/** How far `psn` is ahead of `other`; negative if it is behind. */
export function psnAhead(psn: number, other: number): number {
  return ((psn - other + 0x800000) & PSN_MASK) - 0x800000
}

/** Headers of RoCE v2 in front of the payload, and the checksum behind it. */
export const HEADER_BYTES = 58

/**
 * The segment: one memory object per open device, mapped by its owner and, part by part, by its peers.
 *
 * ```
 * 0        header       4 KiB          magic, version, nonce, process, state, doorbell
 * 4 KiB    directory    4096 × 16 B    queue pair number -> where its block lies
 * 68 KiB   queues       4096 × 64 B    completion queues: arrivals, armed, channel
 * 324 KiB  keys         16384 × 64 B   memory regions, memory windows, indirect keys
 * 1348 KiB visitors     1024 × 64 B    devices that use blocks of this one together with others: identity, inside?
 * 1412 KiB blocks       page multiples one per queue pair and shared receive queue; never reused while the device is
 *                                      open, so a stale peer can only write into a hole that is never read
 * ```
 * A block:
 * ```
 * owner line   state word, number, domain, access, destination, …    written by the owner
 * posted line  receive requests posted                               written by the owner
 * peer line    consumed, inside                                      written by the connected peer; the owner reads it
 *                                                                    only to wait for the peer
 * notices line fault, waiting, found                                 written by the connected peer, rarely
 * requests     ring of receive requests                              written by the owner
 * results      ring of receive completions, same slots, a line each  written by the connected peer, or by the visitor
 *                                                                    that claimed the slot
 * claims       one word a slot, for rings that many send to          posted by the owner, claimed and finished by
 *                                                                    visitors
 * ```
 * Why a process may be killed between any two stores:
 *
 * 1. A ring of a connected queue pair has one writer. A result is published by its own sequence number, stored last. So
 *    SIGKILL between any two stores leaves the ring intact.
 * 2. A ring that many send to (datagrams, shared receive queues) is published slot by slot. A claim names its visitor,
 *    so the owner can post the request of a dead visitor again (claims.ts).
 * 3. What a peer wrote is checked before it is used: peers belong to the same user, but may be broken.
 *
 * Lines that both ends touch for each message cost more than all else:
 *
 * 1. The owner knows the next sequence number and its place. It sees a message arrive in the line that holds the
 *    result, and polls only that line.
 * 2. The peer keeps its own counters in a line of their own.
 * 3. The arrivals of the completion queue are read only if many queue pairs feed it, before sleeping, and now and then.
 */
import { QueuePairState } from '../queue-pair-state.ts'
import { MAX_KEYS } from '../soft/limits.ts'

export const SEGMENT_MAGIC = 0x41767262
export const SEGMENT_VERSION = 3
export const PAGE_BYTES = 4096

export const MAX_QUEUE_PAIRS = 4096
export const MAX_COMPLETION_QUEUES = 4096
/** The longest ArrayBuffer over foreign memory. */
export const MAX_REGION_BYTES: number = 2 ** 32

/** 32-bit words of the header. */
export const HeaderWord = {
  Magic: 0,
  Version: 1,
  NonceLow: 2,
  NonceHigh: 3,
  ProcessId: 4,
  State: 5,
  Doorbell: 6,
  DoorbellInode: 7,
} as const
export const SegmentState = { Open: 1, Closed: 2 } as const

const DIRECTORY_OFFSET: number = PAGE_BYTES
/** 32-bit words of a directory entry. */
export const DirectoryWord = { Number: 0, FirstPage: 1, Pages: 2 } as const
export const DIRECTORY_WORDS = 4

export const QUEUES_OFFSET: number = DIRECTORY_OFFSET + MAX_QUEUE_PAIRS * DIRECTORY_WORDS * 4
/** 32-bit words of a completion queue's entry. `Channel` is the write end of the doorbell pipe plus one, 0 for none. */
export const QueueWord = { Arrivals: 0, Armed: 1, Channel: 2, SolicitedOnly: 3, ChannelInode: 4 } as const
export const QUEUE_WORDS = 16

export const KEYS_OFFSET: number = QUEUES_OFFSET + MAX_COMPLETION_QUEUES * QUEUE_WORDS * 4
/**
 * 32-bit words of a key's entry.
 * - `Key` is stored last, and is 0 while the entry is unused.
 * - `Generation` changes whenever an entry is written, because windows and indirect keys reuse a key.
 * - `QueuePair` is the only one through which the key may be used, 0 for any.
 * - `Base` is the key of a window's region, or the first page of an indirect key's pieces.
 * - `Pieces` is the number of those pieces; each is used `Repeat` times.
 */
export const KeyWord = {
  Key: 0,
  Access: 1,
  Domain: 2,
  Descriptor: 3,
  Kind: 10,
  QueuePair: 11,
  Base: 12,
  Pieces: 13,
  Repeat: 14,
  Generation: 15,
} as const
/**
 * Doubles of a key's entry. `Offset` is where the memory starts: in the memory object, or in the process if there is no
 * object. For a window, it is the first address in the region's terms.
 */
export const KeyDouble = { Address: 2, Length: 3, Offset: 4 } as const
/** What a key's entry describes. */
export const KeyKind = { Region: 0, Window: 1, Indirect: 2 } as const
export const KEY_WORDS = 16
export const KEY_DOUBLES = 8
/** `Descriptor` of memory without a memory object: it is reached by cross-process copy. */
export const NO_DESCRIPTOR: number = -1

export const VISITORS_OFFSET: number = KEYS_OFFSET + MAX_KEYS * KEY_WORDS * 4
export const MAX_VISITORS = 1024
/**
 * 32-bit words of a visitor's entry. The first two form one 64-bit word: the visitor's identity, 0 while the entry is
 * free.
 */
export const VisitorWord = { Inside: 2 } as const
export const VISITOR_WORDS = 16
/** 64-bit words of a visitor's entry. */
export const VISITOR_LONGS = 8

export const FIXED_BYTES: number = VISITORS_OFFSET + MAX_VISITORS * VISITOR_WORDS * 4

/** 32-bit words of a queue pair's block. */
export const BlockWord = {
  State: 0,
  Number: 1,
  Domain: 2,
  Access: 3,
  DestinationNumber: 4,
  ReceivePsn: 5,
  MinRnrTimer: 6,
  ReceiveQueue: 7,
  RingSize: 8,
  Segments: 9,
  MaxReadAtomic: 10,
  DestinationGid: 11,
  /** A BlockKind. */
  Kind: 15,
  /** Number of the shared receive queue that receives are taken from; 0: the block's own ring. */
  SharedQueue: 16,
  /** The key that datagrams must carry. */
  QueueKey: 17,
  /** Two words: the key that a dynamic initiator must name. */
  AccessKey: 18,
  /** Two words: the XRC domain of a receive queue pair or shared receive queue. */
  XrcDomain: 20,
  /** For a shared receive queue: if fewer requests than this are left, its owner must be told. */
  Limit: 22,
  Posted: 32,
  /** The connected peer's own count of the requests that it has consumed, for when it resumes the connection. */
  Consumed: 48,
  Inside: 49,
  /** For a ring that many send to: no unclaimed request is before this position. */
  Next: 56,
  Fault: 64,
  Waiting: 65,
  /** The connected peer has found this queue pair ready. */
  Found: 66,
} as const

/** The purpose of a block. */
export const BlockKind = { Connected: 0, Datagram: 1, SharedQueue: 2, DynamicTarget: 3, XrcReceive: 4 } as const
export const BLOCK_HEADER_BYTES = 320

/** Doubles of a receive request: the number of segments, then address, length and key of each. */
export function requestDoubles(segments: number): number {
  return 1 + 3 * segments
}

/** 32-bit words of a receive completion, which has a cache line of its own; `ByteLength` is a double. */
export const ResultWord = {
  Opcode: 0,
  Flags: 1,
  Immediate: 2,
  Status: 3,
  ByteLength: 4,
  SourceNumber: 6,
  VendorError: 7,
  /** For a ring that many send to: the queue pair that the message is for. */
  Number: 8,
  /**
   * For the ring of a connected queue pair, stored last: how many requests were consumed, this one included, since the
   * queue pair was created.
   */
  Sequence: 15,
} as const
export const RESULT_WORDS = 16
const LINE_BYTES = 64

/** Where the parts of a block lie, given its two parameters. */
export interface BlockGeometry {
  readonly ringSize: number
  readonly segments: number
  readonly resultsOffset: number
  readonly claimsOffset: number
  readonly pages: number
}

export function blockGeometry(ringSize: number, segments: number): BlockGeometry {
  const requestsEnd = BLOCK_HEADER_BYTES + ringSize * requestDoubles(segments) * 8
  const resultsOffset = Math.ceil(requestsEnd / LINE_BYTES) * LINE_BYTES
  const claimsOffset = resultsOffset + ringSize * RESULT_WORDS * 4
  const bytes = claimsOffset + ringSize * 4
  return { ringSize, segments, resultsOffset, claimsOffset, pages: Math.ceil(bytes / PAGE_BYTES) }
}

/** The state word carries an epoch above the state's four bits; it changes at every RESET. */
export function stateWord(epoch: number, state: number): number {
  return (epoch << 4) | state
}

export function stateOf(word: number): number {
  return word & 15
}

/** True if a queue pair in the state of that word takes messages. */
export function receivesIn(word: number): boolean {
  const state = stateOf(word)
  return state >= QueuePairState.ReadyToReceive && state <= QueuePairState.SendQueueError
}

export function powerOfTwoAtLeast(count: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, count)))
}

/**
 * The segment: one memory object per open device, mapped by its owner and, part by part, by its peers.
 *
 * ```
 * 0        header       4 KiB                  magic, version, nonce, process, state, doorbell
 * 4 KiB    directory    4096 × 16 B            queue pair number -> where its block lies
 * 68 KiB   queues       4096 × 64 B            completion queues: arrivals, armed, channel
 * 324 KiB  keys         16384 × 64 B           memory regions, memory windows, indirect keys
 * 1348 KiB visitors     1024 × 64 B            devices that use blocks of this one together with others: who, and
 *                                              whether inside
 * 1412 KiB blocks       page multiples         one per queue pair and shared receive queue; never reused while the
 *                                              device is open, so that a
 *                                              stale peer can only write into a hole that nobody reads
 * ```
 * A block:
 * ```
 * owner line   state word, number, domain, access, destination, …      written by the owner
 * posted line  receive requests posted                                  written by the owner
 * peer line    consumed, inside                                         written by the connected peer, and looked at by
 *                                                                       the owner only to wait for it
 * notices line fault, waiting, found                                    written by the connected peer, seldom
 * requests     ring of receive requests                                 written by the owner
 * results      ring of receive completions, same slots, a line each     written by the connected peer, or by who
 *                                                                       claimed the slot
 * claims       one word a slot, for rings that many send to             posted by the owner, claimed and finished by
 *                                                                       visitors
 * ```
 * A ring of a connected queue pair has one writer. A result is published by its own sequence number, stored last, so
 * SIGKILL between any two stores leaves the ring whole; and the owner, which knows the next number and where it will
 * stand, sees a message come in the line that holds its result. Lines that both ends touch for each message cost more
 * than all else: what the owner polls is that one line, what the peer counts for itself is in a line of its own, and
 * the arrivals of the completion queue are looked at where many queue pairs feed it, before sleeping, and now and then.
 * A ring that many send to (datagrams, shared receive queues) is published slot by slot; a claim names its visitor, so
 * that the owner can post the request of a dead one anew (claims.ts). What a peer wrote is checked before it is used:
 * peers are of the same user, but may be broken.
 */
export const SEGMENT_MAGIC = 0x41767262
export const SEGMENT_VERSION = 3
export const PAGE_BYTES = 4096

export const MAX_QUEUE_PAIRS = 4096
export const MAX_COMPLETION_QUEUES = 4096
export const MAX_KEYS = 16384
export const MAX_SEGMENTS = 32
export const MAX_REQUESTS: number = 1 << 16
export const MAX_COMPLETIONS: number = 1 << 22
export const MAX_INLINE_BYTES = 1024
/** A message of 2^31 bytes is the longest that InfiniBand carries. */
export const MAX_MESSAGE_BYTES: number = 2 ** 31
/** What one ArrayBuffer over foreign memory may be. */
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
 * 32-bit words of a key's entry; `Key` is stored last and is 0 while the entry means nothing. `Generation` changes
 * whenever an entry is written, because windows and indirect keys come again under the same key. `QueuePair` is the
 * only one through which the key may be used, 0 for any. `Base` is the key of a window's region, or the first page of
 * an indirect key's pieces, of which there are `Pieces`, each used `Repeat` times.
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
 * Doubles of a key's entry. `Offset` is where the memory begins: in the memory object; in the process, without one; of
 * a window, its first address as the region names it.
 */
export const KeyDouble = { Address: 2, Length: 3, Offset: 4 } as const
/** What a key's entry describes. */
export const KeyKind = { Region: 0, Window: 1, Indirect: 2 } as const
export const KEY_WORDS = 16
export const KEY_DOUBLES = 8
/** `Descriptor` of memory that has no memory object: reached by cross-process copy. */
export const NO_DESCRIPTOR: number = -1

export const VISITORS_OFFSET: number = KEYS_OFFSET + MAX_KEYS * KEY_WORDS * 4
export const MAX_VISITORS = 1024
/** 32-bit words of a visitor's entry. The first two are one 64-bit word: who it is, 0 while the entry is free. */
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
  /** Datagrams must carry it. */
  QueueKey: 17,
  /** Two words: what a dynamic initiator must name. */
  AccessKey: 18,
  /** Two words: which XRC domain a receive queue pair or shared receive queue is in. */
  XrcDomain: 20,
  /** Of a shared receive queue: with fewer requests than this left, its owner wants to know. */
  Limit: 22,
  Posted: 32,
  /** The connected peer's own note of how many requests it has used up, for when it takes the connection up again. */
  Consumed: 48,
  Inside: 49,
  /** Of a ring that many send to: no unclaimed request is before this position. */
  Next: 56,
  Fault: 64,
  Waiting: 65,
  /** The connected peer has found this queue pair ready. */
  Found: 66,
} as const

/** What a block is for. */
export const BlockKind = { Connected: 0, Datagram: 1, SharedQueue: 2, DynamicTarget: 3, XrcReceive: 4 } as const
export const BLOCK_HEADER_BYTES = 320

/** Doubles of a receive request: how many segments, then address, length and key of each. */
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
  /** Of a ring that many send to: the queue pair that the message is for. */
  Number: 8,
  /**
   * Of the ring of a connected queue pair, stored last: how many requests were used up with this one, from the creation
   * of the queue pair on.
   */
  Sequence: 15,
} as const
export const RESULT_WORDS = 16
const LINE_BYTES = 64

/** Where the parts of a block lie, from its two parameters. */
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

/** The state word carries an epoch, which changes at every RESET, above the state's four bits. */
export function stateWord(epoch: number, state: number): number {
  return (epoch << 4) | state
}

export function stateOf(word: number): number {
  return word & 15
}

export function powerOfTwoAtLeast(count: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, count)))
}

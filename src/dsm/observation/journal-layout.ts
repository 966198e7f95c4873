import { cacheEvents, directoryEvents } from '../coherence/index.ts'
import { alignUp } from '../size.ts'

/**
 * What an agent shows of its coherent regions while a watcher is there: a memory object of its own, which only it
 * writes.
 *
 * ```
 * 0x000000   header        4 KiB   Int32 magic, version, rank, ranks; byte 64: Int32 events written so far, modulo 2^32
 * 0x001000   links        32 KiB   512 peers of 64 B: Float64 messages, bytes, pages sent to it; answers from it:
 *                                  count, sum, most, in ns
 * 0x010000   regions     512 KiB   32 heads of 16 KiB
 * 0x0a0000   events        1 MiB   a ring of 32,768 records of 32 B
 * 0x1a0000   operations  384 KiB   512 peers of 48 x 2 Float64: how many, and bytes; 0: pages whose bytes were pushed
 *                                  there, others: messages of that kind
 * 0x200000   waits       384 KiB   512 peers of 2 x 96 Uint32: how long threads here waited for pages that came from
 *                                  there, to read and to write
 * 0x260000   maps                  of one region after the other; where, says the head
 * ```
 *
 * A head describes its region (drawn in {@link HeadByte}). At 0x1000 it counts how often each cell of the protocol's
 * table for copies was taken, at 0x3000 the same for homes.
 *
 * A map starts with a count of changes (Int32) for each block of 256 pages. From the next page of memory on, it has an
 * entry of 16 B for each page of the region (drawn in {@link PageByte}). It ends with 64 KiB of advice
 * (`shown-advice.ts`). The object is sparse: untouched pages take no memory.
 */
export const JOURNAL_MAGIC = 0x4c4a4541
export const JOURNAL_VERSION = 4

export const HeaderWord = { Magic: 0, Version: 1, Rank: 2, Ranks: 3, Events: 16 } as const

export const LINKS_OFFSET = 0x1000
export const LINKS_MAX = 512
export const LINK_FLOATS = 8
export const LinkFloat = { Messages: 0, Bytes: 1, Pages: 2, Answers: 3, AnswerNs: 4, AnswerNsMax: 5 } as const

export const HEADS_OFFSET = 0x10000
export const HEAD_BYTES = 0x4000
/** So many are shown at a time; one that is opened beyond these is not. */
export const SHOWN_REGIONS_MAX = 32

/**
 * Where the facts stand in a head. `Number` is written last: 0 where the head is free, else which region of its writer
 * it is, counted from 1 (Uint32). A head is used again when its region has ended, a number or the place of a map never.
 */
export const HeadByte = {
  Number: 0,
  Id: 4,
  Pages: 8,
  PageBytes: 16,
  Size: 24,
  Map: 32,
  NameLength: 40,
  ProtocolLength: 44,
  Name: 128,
  Protocol: 256,
  CacheCells: 0x1000,
  DirectoryCells: 0x3000,
} as const
export const NAME_BYTES_MAX = 128
export const PROTOCOL_BYTES_MAX = 32

/** States that a table may have. */
export const STATES_MAX = 48
export const CACHE_CELLS: number = STATES_MAX * cacheEvents.length
export const DIRECTORY_CELLS: number = STATES_MAX * directoryEvents.length

export const EVENTS_OFFSET = 0xa0000
export const EVENTS_KEPT = 32_768
export const EVENT_BYTES = 32

/**
 * ```
 * byte  0   time                 Float64   ns of CLOCK_MONOTONIC
 *       8   page                 Uint32
 *      12   what                 Uint8     a number of {@link EventKind}
 *      14   peer + 1             Uint16    0: none
 *      16   kind of message, or right, or state before + 1    Uint8
 *      17   state after + 1                                   Uint8
 *      18   requester + 1        Uint16
 *      20   bytes                Uint32
 *      24   how long it took     Uint32    ns
 *      28   region               Uint32    its number, as its head had it
 * ```
 */
export const EventByte = {
  Time: 0,
  Page: 8,
  What: 12,
  Peer: 14,
  Before: 16,
  After: 17,
  Requester: 18,
  Bytes: 20,
  Took: 24,
  Region: 28,
} as const

/** What is written down of an event; what it has not is left out. */
export interface JournalEvent {
  readonly what: number
  readonly page: number
  readonly peer?: number
  readonly before?: number
  readonly after?: number
  readonly requester?: number
  readonly bytes?: number
  readonly tookNs?: number
}

export const EventKind = {
  /** A thread here wants the page: right 1 to read, 2 to write. */
  Wanted: 1,
  Sent: 2,
  /** The bytes of the page were written into the frame of `peer`. */
  Pushed: 3,
  Received: 4,
  /** The state of the copy here changed. */
  Copy: 5,
  /** The state of the directory entry here changed. */
  Home: 6,
  /** A thread here that waited has the page, with the right 1 or 2. */
  Granted: 7,
} as const

export const OPERATIONS_OFFSET = 0x1a0000
/** Kinds of messages are numbers below this; 0 stands for pages. */
export const OPERATIONS_MAX = 48

export const WAITS_OFFSET = 0x200000
/** Every octave has four equal parts, from 512 ns to 8.6 s; what is shorter or longer is in the first or last. */
export const WAIT_PARTS = 96
const WAIT_NS_MIN = 512

/** In which part of the waits a duration is. */
export function waitPartOf(ns: number): number {
  const times = Math.max(1, ns / WAIT_NS_MIN)
  const octave = Math.floor(Math.log2(times))
  return Math.min(WAIT_PARTS - 1, 4 * octave + Math.floor(4 * (times / 2 ** octave - 1)))
}

/** Where a part of the waits begins, in nanoseconds. */
export function waitPartBegin(part: number): number {
  return WAIT_NS_MIN * 2 ** (part >> 2) * (1 + (part & 3) / 4)
}

export const MAPS_OFFSET = 0x260000
export const PAGES_PER_BLOCK = 256
export const PAGE_ENTRY_BYTES = 16

/**
 * ```
 * byte  0   state of the copy + 1         Uint8     index into the protocol's table; 0: nothing is known
 *       1   state of the directory + 1    Uint8     0: this is not the page's home
 *       2   owner + 1                     Uint16    as the home has it; 0: none
 *       4   version                       Uint32    as the home has it
 *       8   faults                        Uint32    how often a thread here had to wait for it since this journal began
 *      12   losses                        Uint32    how often it was taken away from here since then
 * ```
 */
export const PageByte = { Copy: 0, Directory: 1, Owner: 2, Version: 4, Faults: 8, Losses: 12 } as const

/** At the end of a map: what the rank saw of pages that bounce. */
export const ADVICE_BYTES = 0x10000

const MEMORY_PAGE = 4096

/** Where the entries of a map begin, from the start of the map. */
export function entriesOffset(pages: number): number {
  return alignUp(blocksOf(pages) * 4, MEMORY_PAGE)
}

/** Length of a map. */
export function mapBytes(pages: number): number {
  return entriesOffset(pages) + alignUp(pages * PAGE_ENTRY_BYTES, MEMORY_PAGE) + ADVICE_BYTES
}

export function blocksOf(pages: number): number {
  return Math.ceil(pages / PAGES_PER_BLOCK)
}

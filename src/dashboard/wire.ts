/**
 * What the server tells the page, as JSON. Types only: both sides import them.
 *
 * @module
 */

/** A member of the space. */
export interface MemberFrame {
  readonly slot: number
  readonly epoch: number
  readonly processId: number
  /** Its rank in a group; null where it is in none. */
  readonly rank: number | null
  readonly state: 'running' | 'stopped' | 'left' | 'died'
  /** Memory of its process that is in use, in bytes. */
  readonly residentBytes: number
  /** Processor time a second of its process: 1 is one whole processor. */
  readonly processors: number
  /**
   * How often a thread had to wait for a page, and bytes of pages that came and went: per second, since the frame
   * before.
   */
  readonly waits: number
  readonly bytesIn: number
  readonly bytesOut: number
  /** Of waiting for a page, since the member began; 0 where none was waited for. */
  readonly waitP50Ns: number
  readonly waitP99Ns: number
  readonly regions: number
}

/** What one rank sends to another, per second. */
export interface LinkFrame {
  readonly from: number
  readonly to: number
  readonly messages: number
  readonly pages: number
  readonly bytes: number
  /**
   * Mean time in which a page from there came, or (of members that share no coherent region) in which requests of queue
   * pairs were done, since the frame before; null where none was timed.
   */
  readonly latencyNs: number | null
  /** Bytes since the watching began. */
  readonly totalBytes: number
}

/**
 * Where an operation is counted: messages of a coherence protocol and waits for its pages, requests of queue pairs,
 * messages of endpoints, calls of methods that were made, and that were answered.
 */
export type OperationLayer = 'coherence' | 'verbs' | 'messages' | 'calls' | 'answers'

/**
 * One operation of a link, over the last second or so. Only those of the busiest links are told, and only what there
 * was.
 */
export interface OperationFrame {
  readonly from: number
  /** Null for calls and answers, which are counted by method and not by peer. */
  readonly to: number | null
  readonly layer: OperationLayer
  /** `write`, `compare-swap`, the kind of a message, the name of a method. */
  readonly name: string
  /**
   * How many a second, and the bytes that they carried, from `from` to `to`; of calls and answers, the bytes that came.
   */
  readonly rate: number
  readonly bytes: number
  /** How long those took that were timed; null where none was. */
  readonly p50Ns: number | null
  readonly p99Ns: number | null
}

/** How often each cell of a protocol's tables was taken, all ranks together. */
export interface CellCount {
  readonly side: 'cache' | 'directory'
  readonly state: string
  readonly event: string
  readonly count: number
}

export interface RegionFrame {
  readonly name: string
  /** `hardware`, or the name of the protocol. */
  readonly coherence: string
  readonly size: number
  readonly pageBytes: number
  readonly pages: number
  /** Ranks (slots, where there are no ranks) that have it open. */
  readonly openAt: readonly number[]
  /** Whether pages have states that can be looked at. */
  readonly hasPages: boolean
  readonly cells: readonly CellCount[]
}

export interface HistogramFrame {
  readonly name: string
  readonly slot: number
  readonly count: number
  readonly meanNs: number
  readonly p50Ns: number
  readonly p90Ns: number
  readonly p99Ns: number
  readonly maxNs: number
  /**
   * How it is distributed: pairs of a part and how many fell into it, empty parts left out. Every octave has four equal
   * parts: part `p` begins at `2 ** (p >> 2) * (1 + (p & 3) / 4)` nanoseconds and ends where the next begins; 0 ns
   * counts as 1.
   */
  readonly parts: readonly number[]
}

/** A line of the event log. */
export interface LogFrame {
  readonly atMs: number
  readonly kind: 'joined' | 'left' | 'died' | 'aborted' | 'region' | 'note'
  readonly text: string
}

/** One look at the space. */
export interface Frame {
  /** Milliseconds since 1970. */
  readonly atMs: number
  readonly space: string
  readonly epoch: number
  /** False once the space is gone: then this is the last one. */
  readonly running: boolean
  readonly members: readonly MemberFrame[]
  readonly links: readonly LinkFrame[]
  /** The same list from look to look until there is a newer one, about once a second. */
  readonly operations: readonly OperationFrame[]
  readonly regions: readonly RegionFrame[]
  readonly histograms: readonly HistogramFrame[]
  /** What is new. */
  readonly log: readonly LogFrame[]
  /** Events of pages that were overwritten before they were read, since the watching began. */
  readonly lostEvents: number
}

/**
 * A look as it is told to a page that has been told the look before: of links those that changed, each as
 * {@link LINK_NUMBERS} numbers one after the other (from, to, then rates rounded to whole numbers: messages, pages,
 * bytes, latency in ns or -1, and the total of bytes). Histograms and operations come apart, once a second.
 */
export interface LookFrame extends Omit<Frame, 'links' | 'operations' | 'histograms'> {
  readonly links: readonly number[]
  /** All that was told of links before is no longer so. */
  readonly isWhole: boolean
}

/** Numbers of a link in a {@link LookFrame}. */
export const LINK_NUMBERS = 7

/** Histograms that have changed since they were told last. */
export interface HistogramsFrame {
  readonly isWhole: boolean
  readonly histograms: readonly HistogramFrame[]
  /** Those that are there no more, where there are any: what they timed has ended, or who did. */
  readonly gone?: readonly (readonly [name: string, slot: number])[]
}

/**
 * Operations whose figures differ from what was told last: as {@link OperationFrame}, rounded. One that is not told any
 * more has the rate 0 at last.
 */
export interface OperationsFrame {
  readonly isWhole: boolean
  readonly operations: readonly OperationFrame[]
}

/** One thing that is told, by its name. */
export type Message =
  | { readonly event: 'frame'; readonly data: LookFrame }
  | { readonly event: 'pages'; readonly data: PagesFrame }
  | { readonly event: 'histograms'; readonly data: HistogramsFrame }
  | { readonly event: 'operations'; readonly data: OperationsFrame }

/**
 * States of pages of one region: for each block its number and 256 little-endian Uint16 as base64 (fewer at the end),
 * or one number where all are the same. A page is `class + 16 * (rank + 1)`, the rank being its owner or, where it has
 * none, its home.
 */
export interface PagesFrame {
  readonly region: string
  readonly pages: number
  /** What was told of it before is of another region of that name. */
  readonly isNew: boolean
  readonly blocks: readonly (readonly [block: number, states: string | number])[]
}

/** Classes of a page's state, all ranks taken together. */
export const PageClass = {
  /** Nobody has touched it. */
  Untouched: 0,
  /** Only its home has it, and no program may use it without asking. */
  Home: 1,
  /** One rank may read it. */
  OneReader: 2,
  /** Several may read it. */
  Shared: 3,
  /** One may write it. */
  Written: 4,
  /** It is on its way. */
  Moving: 5,
} as const

/** Something that happened to a page. */
export interface PageEventFrame {
  readonly rank: number
  /** Microseconds since the oldest of the answer. */
  readonly atUs: number
  readonly what: 'wanted' | 'sent' | 'pushed' | 'received' | 'copy' | 'home' | 'granted'
  /** The other rank, where there is one. */
  readonly peer: number | null
  /** `read`, the kind of message, or `I -> S`. */
  readonly text: string
}

/** Why a page bounces between ranks, as the ranks of this machine saw it. */
export interface PageAdviceFrame {
  readonly kind: 'false-sharing' | 'true-sharing' | 'reader-writer' | 'unclear'
  /** How often it was taken away from a rank. */
  readonly moves: number
  readonly finding: string
  readonly remedy: string
  readonly lengthBytes: number
  readonly readers: readonly number[]
  /** Bytes that they change, from the first to before the second. */
  readonly writers: readonly {
    readonly rank: number
    readonly ranges: readonly (readonly [begin: number, end: number])[]
  }[]
}

/** All that is known of one page. */
export interface PageFrame {
  readonly region: string
  readonly page: number
  readonly class: number
  readonly owner: number | null
  readonly home: number | null
  readonly homeState: string | null
  /** As the home counts them; null where it is not seen from this machine. */
  readonly version: number | null
  readonly copies: readonly {
    readonly rank: number
    readonly state: string
    /**
     * How often it was wanted and lost there since the watching began; null where a recording does not tell all of that
     * time.
     */
    readonly faults: number | null
    readonly losses: number | null
  }[]
  /** Who may read it; null where a recording does not tell that of every rank. */
  readonly sharers: readonly number[] | null
  readonly history: readonly PageEventFrame[]
  /** Where the region is open with `advise`, and the page bounces. */
  readonly advice?: PageAdviceFrame
}

/** What the page shows: what runs now, or a recording of what ran. */
export type SessionFrame = { readonly kind: 'live' } | ({ readonly kind: 'recording' } & RecordingFrame)

/** A recording in parts of about a second each. */
export interface RecordingFrame {
  /** The file's name, without its folder. */
  readonly name: string
  /** Milliseconds since 1970. */
  readonly begunMs: number
  readonly lengthMs: number
  /** For each part: milliseconds from the beginning to its first look. */
  readonly parts: readonly number[]
  /** Parts that tell all anew, by number: what comes before them is not needed. */
  readonly whole: readonly number[]
  /**
   * How it ends: as who recorded wished, at its limit, in the middle, because who wrote it was killed or still writes,
   * or where it is damaged.
   */
  readonly end: 'closed' | 'limit' | 'cut' | 'damaged'
}

/** One part: what was told, and when. */
export interface PartFrame {
  readonly messages: readonly (Message & { readonly atMs: number })[]
  /** Why it cannot be read; then it has no messages. */
  readonly damage?: string
}

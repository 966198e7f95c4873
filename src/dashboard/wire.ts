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
  /** How often a thread had to wait for a page, and bytes of pages that came and went: per second, since the frame before. */
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
  /** Mean time in which a page from there came, since the frame before; null where none did. */
  readonly latencyNs: number | null
  /** Bytes since the watching began. */
  readonly totalBytes: number
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
  readonly p99Ns: number
  readonly maxNs: number
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
  readonly regions: readonly RegionFrame[]
  readonly histograms: readonly HistogramFrame[]
  /** What is new. */
  readonly log: readonly LogFrame[]
  /** Events of pages that were overwritten before they were read, since the watching began. */
  readonly lostEvents: number
}

/**
 * States of pages of one region: for each block its number and 256 little-endian Uint16 as base64 (fewer at the end). A page is `class + 16 * (rank + 1)`, the rank being its
 * owner or, where it has none, its home.
 */
export interface PagesFrame {
  readonly region: string
  readonly pages: number
  /** What was told of it before is of another region of that name. */
  readonly isNew: boolean
  readonly blocks: readonly (readonly [block: number, states: string])[]
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
    readonly faults: number
    readonly losses: number
  }[]
  readonly sharers: readonly number[]
  readonly history: readonly PageEventFrame[]
  /** Where the region is open with `advise`, and the page bounces. */
  readonly advice?: PageAdviceFrame
}

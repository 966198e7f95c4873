/**
 * What the server sends to the page, as JSON. Both sides import these types.
 *
 * @module
 */

/** A member of the space. */
export interface MemberFrame {
  readonly slot: number
  readonly epoch: number
  readonly processId: number
  /** Set if the process is in another pid namespace. Its number is one there; its memory and CPU time are unknown. */
  readonly foreign?: true
  /** Its rank; null if it is not in a group. */
  readonly rank: number | null
  readonly state: 'running' | 'stopped' | 'left' | 'died'
  /** Resident memory of its process, in bytes. */
  readonly residentBytes: number
  /** CPU time of its process per second: 1 is one whole CPU. */
  readonly processors: number
  /**
   * How often a thread had to wait for a page, and bytes of pages that arrived and left: per second, since the last
   * frame.
   */
  readonly waits: number
  readonly bytesIn: number
  readonly bytesOut: number
  /** Waits for a page since the member started; 0 if there were none. */
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
   * Mean time since the last frame until a page from there arrived; null if none was timed. If the members share no
   * coherent region, it is the time that requests of queue pairs took.
   */
  readonly latencyNs: number | null
  /** Bytes since observation started. */
  readonly totalBytes: number
}

/**
 * Where an operation is counted. `coherence`: messages of a protocol and waits for its pages. `verbs`: requests of
 * queue pairs. `messages`: messages of endpoints. `calls`: calls that were made. `answers`: calls that were answered.
 */
export type OperationLayer = 'coherence' | 'verbs' | 'messages' | 'calls' | 'answers'

/**
 * One operation of a link, over the last second or so. Only operations that occurred, on the busiest links, are sent.
 */
export interface OperationFrame {
  readonly from: number
  /** Null for calls and answers, which are counted by method and not by peer. */
  readonly to: number | null
  readonly layer: OperationLayer
  /** `write`, `compare-swap`, the kind of a message, the name of a method. */
  readonly name: string
  /**
   * Operations and bytes per second from `from` to `to`. For calls and answers, the bytes that were received.
   */
  readonly rate: number
  readonly bytes: number
  /** How long they took, of those that were timed; null if none was. */
  readonly p50Ns: number | null
  readonly p99Ns: number | null
}

/** How often a cell of a protocol's tables was used, summed over all ranks. */
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
  /** Ranks (or slots, if there are no ranks) that have it open. */
  readonly openAt: readonly number[]
  /** Whether the states of its pages can be shown. */
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
   * The distribution: pairs of a part and the count in it, without empty parts. Every octave has four equal parts. Part
   * `p` starts at `2 ** (p >> 2) * (1 + (p & 3) / 4)` nanoseconds and ends where the next one starts; 0 ns counts as 1.
   */
  readonly parts: readonly number[]
}

/** A structure of the space, as `openStructures(space)` makes them. */
export interface StructureFrame {
  /** The region that holds it. */
  readonly region: string
  readonly name: string
  /** `map`, `queue`, `rate limiter`, … */
  readonly kind: string
  /** Entries, values or records; null for kinds that have none. */
  readonly entries: number | null
  /** Bytes of its blocks; null if they cannot be told from those of others. */
  readonly bytes: number | null
  /** The bytes are estimated from a sample. */
  readonly isEstimate: boolean
  /** It changed too fast to be read: figures are missing. */
  readonly isChanging: boolean
  /** Its value or state in a few words: `42`, `raised`, `held by process 4711`. */
  readonly now: string
  /** Calls per second of all members over the last second: those that only look, and those that may change it. */
  readonly reads: number
  readonly writes: number
  /** Calls that wait now. */
  readonly waiting: number
  /** Entries removed by the present members: to keep to a bound, and because their time was over. */
  readonly evictions: number
  readonly expirations: number
}

/** The memory of the structures of one region. */
export interface StructureMemoryFrame {
  readonly region: string
  readonly sizeBytes: number
  readonly usedBytes: number
  /** The used bytes are estimated from a sample. */
  readonly isEstimate: boolean
  /** Another version of Aether made it, so nothing of it can be read. */
  readonly isOther: boolean
}

/** What one member does with a structure. Totals since it opened it. */
export interface StructureUserFrame {
  /** `rank 2`, `member 0`. */
  readonly member: string
  readonly processId: number
  /** As of a {@link MemberFrame}. */
  readonly foreign?: true
  readonly reads: number
  readonly writes: number
  readonly waiting: number
}

/** All that is known of one structure. */
export interface StructureDetailFrame {
  readonly structure: StructureFrame
  /** What it was made with. */
  readonly options: readonly (readonly [name: string, text: string])[]
  /** The members that hold it, or parts of it: `rank 2 (process 4711)`. */
  readonly holders: readonly string[]
  readonly users: readonly StructureUserFrame[]
  /** What the items are: `keys`, `next values`. Empty for kinds that have none. */
  readonly title: string
  readonly items: readonly { readonly label: string; readonly text: string }[]
  /** False if there are more, or some changed too fast to be read. */
  readonly isWhole: boolean
}

/** A member's replica of a replicated state machine, or of an election. */
export interface MachineFrame {
  readonly name: string
  /** As of the member: its rank, or its slot. */
  readonly number: number
  readonly leads: boolean
  /** Of the leader that it knows. */
  readonly term: number
  /** The last entry of the log that it has applied, and how many more another member shown here has applied. */
  readonly applied: number
  readonly behind: number
  /** Entries per second over the last second. */
  readonly rate: number
  /** Its proposals that have no answer yet. */
  readonly proposing: number
  /** How it last came to lead; null if it never did. */
  readonly failOver: FailOverFrame | null
}

/** Stages of a fail-over: nanoseconds since the member found that no one led. */
export interface FailOverFrame {
  readonly campaignNs: number
  readonly promisedNs: number
  readonly caughtUpNs: number
  readonly decidedNs: number
}

/** An index, as the members that show it hold it. */
export interface IndexFrame {
  readonly name: string
  /** How many parts its keys are divided into, and how many nodes vote in each. */
  readonly shards: number
  readonly replicas: number
  readonly nodes: readonly IndexNodeFrame[]
}

/** A node of an index. */
export interface IndexNodeFrame {
  /** As of the member: its rank, or its slot. */
  readonly number: number
  /** What keys and values of all shards may take. */
  readonly bytesMax: number
  /** Calls that took long. */
  readonly slow: number
  readonly shards: readonly IndexShardFrame[]
}

/** A node's part of a shard. */
export interface IndexShardFrame {
  readonly shard: number
  readonly state: 'holds' | 'opening' | 'leaving'
  readonly leads: boolean
  /** Entries of the log that another member shown here has applied, and this one has not; null if that is not known. */
  readonly behind: number | null
  readonly keys: number
  readonly expiring: number
  readonly waiting: number
  readonly bytesUsed: number
  readonly bytesHeld: number
  readonly evicted: number
}

/** An array that has a name, as the ranks that have parts of it show it. */
export interface ArrayFrame {
  readonly name: string
  readonly dtype: string
  /** Of the first four axes. */
  readonly shape: readonly number[]
  readonly axes: number
  /** How each of these is divided: `block`, `cyclic`, `blockCyclic 64`, `replicated`. */
  readonly partition: readonly string[]
  /**
   * Which member has the elements: rows over the first axis and columns over the second, or one row over the only axis.
   * Longer axes are sampled. -1: none that is shown; -2: every one.
   */
  readonly cells: readonly (readonly number[])[]
  readonly parts: readonly { readonly number: number; readonly elements: number; readonly bytes: number }[]
}

/**
 * Named arrays, and what came to each member from others for all arrays; members to which nothing came are left out.
 */
export interface ArraysFrame {
  readonly arrays: readonly ArrayFrame[]
  readonly moved: readonly { readonly number: number; readonly bytes: number; readonly exchanges: number }[]
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
  /** False when the space has ended; then this is the last look. */
  readonly running: boolean
  /** Why no space can be found: the runtime directory is refused, or the space is of another version. */
  readonly problem?: string
  readonly members: readonly MemberFrame[]
  readonly links: readonly LinkFrame[]
  /** The same list at each look until there is a newer one, about once per second. */
  readonly operations: readonly OperationFrame[]
  readonly regions: readonly RegionFrame[]
  /** The same lists at each look until there are newer ones, about once per second. */
  readonly structures: readonly StructureFrame[]
  readonly structureMemory: readonly StructureMemoryFrame[]
  /** By name, then by member. The same list at each look until there is a newer one, about once per second. */
  readonly machines: readonly MachineFrame[]
  /** By name. The same list at each look until there is a newer one, about once per second. */
  readonly indexes: readonly IndexFrame[]
  /** By name. The same frame at each look until there is a newer one, about once per second. */
  readonly arrays: ArraysFrame
  readonly histograms: readonly HistogramFrame[]
  /** New lines. */
  readonly log: readonly LogFrame[]
  /** Events of pages that were overwritten before they were read, since observation started. */
  readonly lostEvents: number
}

/**
 * A look as it is sent to a page that has the previous look. It has only the links that changed, each as
 * {@link LINK_NUMBERS} numbers: from, to, messages, pages, bytes, latency in ns or -1, total bytes. Rates are rounded
 * to whole numbers. Histograms, operations, structures, machines, indexes and arrays are sent separately, once per
 * second.
 */
export interface LookFrame
  extends Omit<
    Frame,
    'links' | 'operations' | 'histograms' | 'structures' | 'structureMemory' | 'machines' | 'indexes' | 'arrays'
  > {
  readonly links: readonly number[]
  /** All links that were sent before are void. */
  readonly isWhole: boolean
}

/** Numbers of a link in a {@link LookFrame}. */
export const LINK_NUMBERS = 7

/** Histograms that have changed since they were last sent. */
export interface HistogramsFrame {
  readonly isWhole: boolean
  readonly histograms: readonly HistogramFrame[]
  /**
   * Histograms that no longer exist, because what they measured or their member has ended. Missing if there are none.
   */
  readonly gone?: readonly (readonly [name: string, slot: number])[]
}

/**
 * Operations whose figures have changed since they were last sent, rounded. An operation that no longer occurs is sent
 * once more with a rate of 0.
 */
export interface OperationsFrame {
  readonly isWhole: boolean
  readonly operations: readonly OperationFrame[]
}

/** Structures whose figures have changed since they were last sent, rounded. */
export interface StructuresFrame {
  readonly isWhole: boolean
  readonly structures: readonly StructureFrame[]
  /** Structures that no longer exist, because their region was deleted. Missing if there are none. */
  readonly gone?: readonly (readonly [region: string, name: string])[]
  readonly memory: readonly StructureMemoryFrame[]
}

/** All machines, if anything of them has changed since they were last sent. */
export interface MachinesFrame {
  readonly machines: readonly MachineFrame[]
}

/** All indexes, if anything of them has changed since they were last sent. */
export interface IndexesFrame {
  readonly indexes: readonly IndexFrame[]
}

/** A message to the page, by the name of its event. */
export type Message =
  | { readonly event: 'frame'; readonly data: LookFrame }
  | { readonly event: 'pages'; readonly data: PagesFrame }
  | { readonly event: 'histograms'; readonly data: HistogramsFrame }
  | { readonly event: 'operations'; readonly data: OperationsFrame }
  | { readonly event: 'structures'; readonly data: StructuresFrame }
  | { readonly event: 'machines'; readonly data: MachinesFrame }
  | { readonly event: 'indexes'; readonly data: IndexesFrame }
  | { readonly event: 'arrays'; readonly data: ArraysFrame }

/**
 * States of pages of one region. Each block has its number and 256 little-endian Uint16 as base64, fewer in the last
 * block. If all are the same, one number stands for them. A state is `class + 16 * (rank + 1)`, where `rank` is the
 * owner of the page or, if it has none, its home.
 */
export interface PagesFrame {
  readonly region: string
  readonly pages: number
  /** Blocks that were sent before belong to another region of that name. */
  readonly isNew: boolean
  readonly blocks: readonly (readonly [block: number, states: string | number])[]
}

/** Classes of a page's state, all ranks taken together. */
export const PageClass = {
  /** No rank has touched it. */
  Untouched: 0,
  /** Only its home has it, and no rank may use it without asking. */
  Home: 1,
  /** One rank may read it. */
  OneReader: 2,
  /** Several ranks may read it. */
  Shared: 3,
  /** One rank may write it. */
  Written: 4,
  /** It is on its way. */
  Moving: 5,
} as const

/** Something that happened to a page. */
export interface PageEventFrame {
  readonly rank: number
  /** Microseconds since the oldest event in this history. */
  readonly atUs: number
  readonly what: 'wanted' | 'sent' | 'pushed' | 'received' | 'copy' | 'home' | 'granted'
  /** The other rank, if there is one. */
  readonly peer: number | null
  /** `read`, the kind of message, or `I -> S`. */
  readonly text: string
}

/** Why a page bounces between ranks, from what the ranks of this machine saw. */
export interface PageAdviceFrame {
  readonly kind: 'false-sharing' | 'true-sharing' | 'reader-writer' | 'unclear'
  /** How often it was taken away from a rank. */
  readonly moves: number
  readonly finding: string
  readonly remedy: string
  readonly lengthBytes: number
  readonly readers: readonly number[]
  /** Bytes that each rank changes: offsets from `begin` to before `end`. */
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
  /** The version that the home counts; null if the home is not visible from this machine. */
  readonly version: number | null
  readonly copies: readonly {
    readonly rank: number
    readonly state: string
    /**
     * How often the rank asked for the page and lost it, since observation started; null if a recording does not
     * cover all that time.
     */
    readonly faults: number | null
    readonly losses: number | null
  }[]
  /** Ranks that may read it; null if a recording does not cover every rank. */
  readonly sharers: readonly number[] | null
  readonly history: readonly PageEventFrame[]
  /** Present if the region is open with `advise` and the page bounces. */
  readonly advice?: PageAdviceFrame
}

/** What the page shows: a running space, or a recording. */
export type SessionFrame = { readonly kind: 'live' } | ({ readonly kind: 'recording' } & RecordingFrame)

/** A recording in parts of about a second each. */
export interface RecordingFrame {
  /** The file's name, without its folder. */
  readonly name: string
  /** Milliseconds since 1970. */
  readonly begunMs: number
  readonly lengthMs: number
  /** For each part: milliseconds from the start to its first look. */
  readonly parts: readonly number[]
  /** Numbers of the parts with a full state, which need no earlier parts. */
  readonly whole: readonly number[]
  /**
   * How it ends. `closed`: the recorder closed it. `limit`: it has reached its limit. `cut`: it ends in the middle,
   * because the recorder was killed or is still writing. `damaged`: the rest is damaged.
   */
  readonly end: 'closed' | 'limit' | 'cut' | 'damaged'
}

/** One part: messages, each with its time. */
export interface PartFrame {
  readonly messages: readonly (Message & { readonly atMs: number })[]
  /** Why it cannot be read. Then it has no messages. */
  readonly damage?: string
}

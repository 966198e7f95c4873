import { hashBytes } from '../../codecs/index.ts'
import { type Configuration, VoterView } from '../../consensus/index.ts'
import { type PlacedOrNot, placeAtNode } from '../located.ts'
import type { Looked } from '../looked.ts'
import { BUCKET_BYTES, BUCKETS_PER_SEGMENT, bucketOf, HeaderWord, UNIT_BYTES } from '../memory/layout.ts'
import { TableReader } from '../memory/table-reader.ts'
import type { ShardMemory } from '../node/index-contract.ts'
import { RecordKeys } from '../state/record-format.ts'
import { latin1Of } from '../values/latin1.ts'
import { FetchedTable, type KnownSegments, PARTS_END, partsOfBucket, type WantedPart } from './fetched-table.ts'
import { ForeignReads } from './foreign-reads.ts'
import type { ReadBuffer, ReadPiece, ReadPort } from './read-line.ts'
import { RemoteVoter, VOTER_BYTES } from './remote-voter.ts'

/** A line that takes longer is left alone for a while: its node may be stopped. */
const WAIT_MS = 50
const SLOW_MS = 500
/** Round trips of one read. After that the node is asked. */
const ROUNDS_MAX = 12
/** Reads that found a change begin again as often. */
const RESTARTS_MAX = 2
/** Keys whose places are remembered. */
const PLACES_MAX = 4096

/** A node that holds the shard: how it is read, and what is there. */
export interface RemoteNode {
  readonly line: ReadPort
  readonly memory: ShardMemory
}

/** What reads of a shard need. */
export interface RemoteReadsOptions {
  readonly configuration: Configuration
  /** Voters may come back from their journals. */
  readonly currentMs: number
  readonly leader: RemoteNode
  /** Other holders. */
  readonly others: readonly RemoteNode[]
}

/**
 * Reads of a shard whose leader is on another machine, by READs of its nodes' memory. No program there takes part. One
 * round trip is enough if the client has read the key before, and two if not. A read is as fresh as a call:
 *
 * 1. The heads of the leader and of others, together a majority of the voters, are READ after the call began. What a
 *    `VoterView` makes of them counts whenever they were read since then: what was answered to anyone before the call
 *    was decided before. If by this leader or before its term, it is in what the leader knows. If by a later one, a
 *    majority had promised a higher term, and one of those that are READ says so.
 * 2. A leader that is stopped, cut off or deposed may still be READ, so its memory alone proves nothing. The others'
 *    promises do. Without a majority nothing is returned. No clock and no lease is needed.
 * 3. The header of the leader's table is READ before anything else of it. It has applied what step 1 tells, or the read
 *    begins again. Then parts and the header after them follow: see {@link FetchedTable}.
 * 4. What is known of places is a guess of what to READ. The look itself begins at the header each time.
 * 5. A voter with a journal counts only if its counter has gone on a short time ago. That time runs from before the
 *    earlier READ of the counter to after the later one.
 *
 * If anything is missing, late or unclear, the read is undefined, and the caller asks a node.
 */
export class RemoteReads {
  readonly options: RemoteReadsOptions
  /** What it knows is out of date, or a line has ended. */
  isStale = false
  /** The last read did not find out whether the leader still leads. */
  #isDoubtful = false
  readonly #majority: number
  readonly #keys = new RecordKeys()
  readonly #voters = new Map<number, RemoteVoter>()
  /** Those that are READ now, and what is made of them. */
  #asked: readonly RemoteNode[] = []
  #view: VoterView | undefined
  readonly #places = new Map<string, readonly WantedPart[]>()
  readonly #segments: KnownSegments = new Map()
  /** As they were in the header that was read last. */
  #buckets = 0
  #seed = 0
  #confirmed = 0
  #spaces: readonly number[] = []

  constructor(options: RemoteReadsOptions) {
    this.options = options
    this.#majority = Math.floor(options.configuration.voters.length / 2) + 1
  }

  /** The heads of a majority of the voters can be READ. */
  get hasMajority(): boolean {
    const { leader, others } = this.options
    let voters = 0
    for (const node of [leader, ...others]) voters += this.#headsOf(node).length
    return voters >= this.#majority
  }

  /** It is worth to ask what has changed. */
  get isUnsure(): boolean {
    return this.isStale || this.#isDoubtful
  }

  /** READs of the leader have not come in time. */
  get isLeaderSilent(): boolean {
    return performance.now() < this.options.leader.line.slowUntilMs
  }

  string(key: Uint8Array, db: number): Promise<Looked | undefined> {
    return this.#run([key], db, (reads) => reads.string(key, db))
  }

  field(key: Uint8Array, field: Uint8Array, db: number): Promise<Looked | undefined> {
    return this.#run([key, field], db, (reads) => reads.field(key, field, db))
  }

  async locate(key: Uint8Array, field: Uint8Array | undefined): Promise<PlacedOrNot> {
    const names = field === undefined ? ([key] as const) : ([key, field] as const)
    return placeAtNode(await this.#run(names, 0, (reads) => reads.locate(key, field)), this.options.leader.memory)
  }

  /** READ the heads: what a leader knows counts from the second time on. */
  async begin(): Promise<void> {
    const held = this.#take()
    if (held === undefined) return
    const [leader] = held
    await this.#confirm(held, performance.now(), leader.node.line.read(leader.buffer, this.#headPieces(leader)))
    giveBack(held)
  }

  async #run<T>(
    names: readonly [Uint8Array, Uint8Array?],
    db: number,
    look: (reads: ForeignReads) => T | undefined,
  ): Promise<T | undefined> {
    const beganMs = performance.now()
    const held = this.#take()
    if (held === undefined) return undefined
    try {
      const { line, memory } = this.options.leader
      const table = new FetchedTable(line, held[0].buffer, memory, this.#segments)
      const guess = this.#guess(names, db)
      const fetching = table.fetch(guess.parts, true, this.#headPieces(held[0]))
      const index = await this.#confirm(held, beganMs, fetching)
      this.#isDoubtful = index === undefined
      if (index === undefined) return undefined
      const readIndex = { confirm: () => index, close: () => undefined }
      for (let round = 1, restarts = 0; ; round += 1) {
        if (!this.#isUsable(table)) return undefined
        table.begin()
        const found = look(new ForeignReads(readIndex, new TableReader(table)))
        if (found !== undefined) {
          this.#remember(guess.name, table.used)
          return found
        }
        const isChanged = table.wanted.length === 0
        if (isChanged) restarts += 1
        if (table.isUnknown) this.isStale = true
        if (table.isBeyond || table.isUnknown || restarts > RESTARTS_MAX || round === ROUNDS_MAX) return undefined
        const wanted = isChanged ? this.#guess(names, db).parts : [...table.wanted]
        if (!(await this.#inTime(held, table.fetch(wanted, isChanged)))) return undefined
      }
    } finally {
      giveBack(held)
    }
  }

  /** Where the key may lie: where it was, or the bucket that it belongs to. */
  #guess([key, field]: readonly [Uint8Array, Uint8Array?], db: number): { name: string; parts: readonly WantedPart[] } {
    const space = this.#spaces[db]
    if (space === undefined) return { name: '', parts: [] }
    const ofKey = this.#keys.ofKey(key, space)
    const bucket = this.#bucketOf(ofKey)
    const ofField = field && this.#keys.ofField(key, field, space)
    const name = latin1Of(ofField ?? this.#keys.ofKey(key, space))
    const known = this.#places.get(name)
    if (known !== undefined) return { name, parts: known }
    if (bucket === undefined) return { name, parts: [] }
    return { name, parts: partsOfBucket(bucket, field === undefined) }
  }

  #bucketOf(record: Uint8Array): number | undefined {
    if (this.#buckets === 0) return undefined
    const bucket = bucketOf(hashBytes(record, record.length, this.#seed), this.#buckets)
    const word = HeaderWord.BucketSegments + Math.floor(bucket / BUCKETS_PER_SEGMENT)
    const segment = this.#segments.get(word >>> 1)?.words[word % 2]
    return segment && segment + ((bucket % BUCKETS_PER_SEGMENT) * BUCKET_BYTES) / UNIT_BYTES
  }

  #remember(name: string, parts: readonly WantedPart[]): void {
    if (name === '') return
    this.#places.delete(name)
    this.#places.set(name, parts)
    // The one that was not read for the longest time.
    if (this.#places.size > PLACES_MAX) this.#places.delete(this.#places.keys().next().value!)
  }

  #isUsable(table: FetchedTable): boolean {
    if (!table.isTold) {
      this.isStale = true
      return false
    }
    const { after } = table
    this.#buckets = after[HeaderWord.Buckets]!
    this.#seed = after[HeaderWord.Seed]!
    this.#spaces = [...after.subarray(HeaderWord.Spaces, HeaderWord.Marks)]
    return !table.isMarked
  }

  /** Buffers of the leader and of as many others as make a majority. Undefined if there are not enough. */
  #take(): HeldBuffers | undefined {
    const { leader, others } = this.options
    const held: Held[] = []
    let voters = 0
    for (const node of [leader, ...others]) {
      if (voters >= this.#majority) break
      const ofNode = this.#headsOf(node)
      if (node.line.isOver) this.isStale = true
      const isSlow = performance.now() < node.line.slowUntilMs
      const buffer = (ofNode.length === 0 && node !== leader) || isSlow ? undefined : node.line.take()
      if (buffer !== undefined) {
        held.push({ node, buffer })
        voters += ofNode.length
      } else if (node === leader) return undefined
    }
    const [ofLeader, ...rest] = held
    if (voters >= this.#majority && ofLeader !== undefined) return [ofLeader, ...rest]
    giveBack(held)
    return undefined
  }

  #headsOf({ memory }: RemoteNode): ShardMemory['heads'] {
    return memory.heads.filter((head) => this.options.configuration.voters.some(({ id }) => id === head.id))
  }

  #headPieces({ node, buffer }: Held): readonly ReadPiece[] {
    return this.#headsOf(node).map((from, number) => {
      return { from, lengthBytes: VOTER_BYTES, to: buffer.begin + PARTS_END + number * VOTER_BYTES }
    })
  }

  /**
   * From which entry on a read is not older than its call, which began then. `ofLeader` READs the head of the leader's
   * node; those of the others are READ beside it.
   */
  async #confirm(held: HeldBuffers, beganMs: number, ofLeader: Promise<boolean>): Promise<number | undefined> {
    this.#confirmed += 1
    const order = this.#confirmed
    const others = held.slice(1).map((each) => each.node.line.read(each.buffer, this.#headPieces(each)))
    const reading = Promise.all([ofLeader, ...others]).then((done) => done.every(Boolean))
    if (!(await this.#inTime(held, reading))) return undefined
    for (const { node, buffer } of held) {
      for (const [number, { id }] of this.#headsOf(node).entries()) {
        const taken = this.#voterOf(id).take(node.line.bytes, buffer.begin + PARTS_END + number * VOTER_BYTES, order)
        if (taken === 'another') this.isStale = true
        if (taken !== 'taken') return undefined
      }
    }
    return this.#viewOf(held).confirm(performance.now(), beganMs)
  }

  #voterOf(id: number): RemoteVoter {
    let voter = this.#voters.get(id)
    if (voter === undefined) {
      voter = new RemoteVoter(id)
      this.#voters.set(id, voter)
    }
    return voter
  }

  #viewOf(held: readonly Held[]): VoterView {
    const nodes = held.map(({ node }) => node)
    if (
      this.#view !== undefined &&
      nodes.length === this.#asked.length &&
      nodes.every((each, at) => each === this.#asked[at])
    )
      return this.#view
    const { configuration, currentMs } = this.options
    const voters = nodes.flatMap((node) => this.#headsOf(node).map(({ id }) => this.#voterOf(id)))
    this.#asked = nodes
    this.#view = new VoterView(configuration, voters, currentMs)
    return this.#view
  }

  /** False if it failed, or has not come in time. */
  async #inTime(held: HeldBuffers, reading: Promise<boolean>): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => {
        const slowUntilMs = performance.now() + SLOW_MS
        for (const { node, buffer } of held) if (buffer.pending > 0) node.line.slowUntilMs = slowUntilMs
        resolve(false)
      }, WAIT_MS)
    })
    const isRead = await Promise.race([reading, late])
    clearTimeout(timer)
    return isRead
  }
}

/** That of the leader is the first. */
type HeldBuffers = readonly [Held, ...Held[]]

interface Held {
  readonly node: RemoteNode
  readonly buffer: ReadBuffer
}

function giveBack(held: readonly Held[]): void {
  for (const { node, buffer } of held) node.line.giveBack(buffer)
}

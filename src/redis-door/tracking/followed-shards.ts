import { randomUUID } from 'node:crypto'
import { type AliveMessage, type ChangesMessage, packFeed, unpackFeed } from './feed-message.ts'
import type { FeedNode } from './feed-node.ts'
import { HeldShards } from './held-shards.ts'

/** How often shards are looked for of which nothing is told, and other nodes are asked to go on. */
const LOOK_MS = 200
/** How long it may take until all is told of. */
const READY_MS = 1000

/** What one other node is asked for. */
interface Feed {
  readonly id: string
  readonly rank: number
  readonly shards: Set<number>
  /** Those of which it says that it tells. */
  told: Set<number>
  /** Of the last message; undefined: it has not answered. */
  sequence: number | undefined
  heardMs: number
}

export interface FollowedShardsParts {
  readonly node: FeedNode
  /** A node that has not answered for so long tells nothing. */
  readonly silentMs: number
  /** Of a shard that is not held here, as `OnShardChange` has it. */
  readonly onChange: (key: string | undefined, origin: number | undefined) => void
  /** Changes may have been missed: of what was told of until now. */
  readonly onLost: () => void
  /** The same of what is told of from now on, and was not before. */
  readonly onGained: () => void
}

/**
 * Of which shards this node comes to know the changes:
 *
 * - Those that it holds, as long as it is not cut off from a majority of those that do: it would lag behind.
 * - Those of which a node that holds them tells, see `ChangeFeeds`. Messages between nodes may be lost: numbers tell,
 *   and so does a node's silence.
 */
export class FollowedShards {
  readonly #parts: FollowedShardsParts
  readonly #held: HeldShards
  readonly #feeds = new Map<string, Feed>()
  /** When a node failed last. */
  readonly #failedMs = new Map<number, number>()
  readonly #stopHearing: () => void
  readonly #waiting = new Set<() => void>()
  #told: ReadonlySet<number> = new Set<number>()
  #timer: NodeJS.Timeout | undefined

  constructor(parts: FollowedShardsParts) {
    this.#parts = parts
    this.#held = new HeldShards(parts.node, parts.silentMs)
    this.#stopHearing = parts.node.onTold((bytes) => {
      const message = unpackFeed(bytes)
      if (message === undefined) return
      if ('alive' in message) this.#alive(message)
      else if ('feed' in message) this.#take(message)
    })
  }

  /** Whether changes of a shard are told of. */
  has(shard: number): boolean {
    return this.#told.has(shard)
  }

  get isWhole(): boolean {
    return this.#told.size === this.#parts.node.shards
  }

  /** From now on changes are wanted. */
  begin(): void {
    if (this.#timer !== undefined) return
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref()
    this.#told = this.#toldNow()
    if (!this.isWhole) this.#look()
  }

  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#feeds.clear()
    this.#told = new Set()
  }

  /** The door closes. */
  close(): void {
    this.end()
    this.#stopHearing()
  }

  /** Resolves when all is told of, or it takes too long; undefined if it is. */
  ready(): Promise<void> | undefined {
    if (this.isWhole) return undefined
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, READY_MS)
      this.#waiting.add(done)
    })
  }

  #look(): void {
    const nowMs = performance.now()
    const { node, silentMs } = this.#parts
    for (const feed of this.#feeds.values()) if (nowMs - feed.heardMs > silentMs) this.#drop(feed)
    this.#held.look()
    for (const feed of this.#feeds.values()) for (const shard of node.held.keys()) leaveOut(feed, shard)
    for (let shard = 0; shard < node.shards; shard += 1) if (!node.held.has(shard)) this.#ask(shard)
    for (const { id, rank, shards } of this.#feeds.values())
      if (shards.size > 0) node.tellNode(rank, packFeed({ follow: id, rank: node.rank, shards: [...shards] }))
      else this.#feeds.delete(id)
    this.#update()
  }

  /** One of those that hold it is asked: not one that has failed, if there is another. */
  #ask(shard: number): void {
    const holders = this.#parts.node.nodes.filter(
      ({ door, holds }) => door !== undefined && holds.some((held) => held.shard === shard),
    )
    const feeds = [...this.#feeds.values()]
    const isHeld = (feed: Feed): boolean => holders.some(({ rank }) => rank === feed.rank)
    const known = feeds.find((feed) => feed.shards.has(shard))
    if (known !== undefined && isHeld(known)) return
    if (known !== undefined) leaveOut(known, shard)
    const failedMs = (rank: number): number => this.#failedMs.get(rank) ?? 0
    const [chosen] = holders.map(({ rank }) => rank).sort((one, other) => failedMs(one) - failedMs(other))
    if (chosen === undefined) return
    const feed = feeds.find(({ rank }) => rank === chosen)
    if (feed !== undefined) feed.shards.add(shard)
    else this.#open(chosen, shard)
  }

  #open(rank: number, shard: number): void {
    const id = randomUUID()
    const heardMs = performance.now()
    this.#feeds.set(id, { id, rank, shards: new Set([shard]), told: new Set(), sequence: undefined, heardMs })
  }

  #drop({ id, rank }: Feed): void {
    this.#feeds.delete(id)
    this.#failedMs.set(rank, performance.now())
  }

  #alive({ alive: id, sequence, shards }: AliveMessage): void {
    const feed = this.#feeds.get(id)
    if (feed === undefined) return
    if (feed.sequence !== undefined && feed.sequence !== sequence) this.#drop(feed)
    feed.sequence = sequence
    feed.heardMs = performance.now()
    feed.told = new Set(shards.filter((shard) => feed.shards.has(shard)))
    this.#update()
  }

  #take({ feed: id, sequence, changes }: ChangesMessage): void {
    const feed = this.#feeds.get(id)
    if (feed?.sequence === undefined) return
    if (feed.sequence + 1 !== sequence) {
      this.#drop(feed)
      this.#update()
      return
    }
    feed.sequence = sequence
    for (const [key, origin] of changes) this.#parts.onChange(key ?? undefined, origin === 0 ? undefined : origin)
  }

  #toldNow(): ReadonlySet<number> {
    const told = new Set(this.#held.whole)
    for (const { told: shards } of this.#feeds.values()) for (const shard of shards) told.add(shard)
    return told
  }

  #update(): void {
    const before = this.#told
    const told = this.#toldNow()
    this.#told = told
    if ([...before].some((shard) => !told.has(shard))) this.#parts.onLost()
    if ([...told].some((shard) => !before.has(shard))) this.#parts.onGained()
    if (this.isWhole) for (const done of [...this.#waiting]) done()
  }
}

function leaveOut({ shards, told }: Feed, shard: number): void {
  shards.delete(shard)
  told.delete(shard)
}

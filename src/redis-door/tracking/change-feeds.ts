import { type FeedChange, type FollowMessage, packFeed, unpackFeed } from './feed-message.ts'
import type { FeedNode } from './feed-node.ts'
import { HeldShards } from './held-shards.ts'
import type { ShardChanges } from './shard-changes.ts'

/** Characters of keys that go together. */
const TOGETHER_MAX = 64 * 1024
/** No number that a feed had before it was forgotten comes again. */
const SEQUENCES = 2 ** 50

interface Follower {
  readonly id: string
  readonly rank: number
  shards: ReadonlySet<number>
  sequence: number
  heardMs: number
  waiting: FeedChange[]
  characters: number
}

/** Tells other nodes, as long as they ask, of changes of shards that are held here and not there. */
export class ChangeFeeds {
  readonly #node: FeedNode
  readonly #changes: ShardChanges
  /** Nodes that do not ask again for so long are not told any more. */
  readonly #silentMs: number
  readonly #held: HeldShards
  readonly #followers = new Map<string, Follower>()
  readonly #stopHearing: () => void
  #timer: NodeJS.Timeout | undefined
  #isFlushing = false

  constructor(node: FeedNode, changes: ShardChanges, silentMs: number) {
    this.#node = node
    this.#silentMs = silentMs
    this.#held = new HeldShards(node, silentMs)
    this.#changes = changes
    this.#stopHearing = node.onTold((bytes) => {
      const message = unpackFeed(bytes)
      if (message !== undefined && 'follow' in message) this.#follow(message)
    })
  }

  /** The door closes. */
  close(): void {
    this.#stopHearing()
    this.#followers.clear()
    this.#forget()
  }

  #follow({ follow: id, rank, shards }: FollowMessage): void {
    const known = this.#followers.get(id)
    const follower = known ?? { ...{ id, rank, waiting: [], characters: 0 }, ...newFeed() }
    // What has changed in others is told before.
    this.#flushOne(follower)
    this.#held.look()
    const whole = this.#held.whole
    follower.shards = new Set(shards.filter((shard) => whole.includes(shard)))
    follower.heardMs = performance.now()
    if (known === undefined) this.#add(follower)
    const { sequence } = follower
    this.#node.tellNode(rank, packFeed({ alive: id, sequence, shards: [...follower.shards] }))
  }

  #add(follower: Follower): void {
    this.#followers.set(follower.id, follower)
    this.#changes.add(this.#change)
    this.#timer ??= setInterval(() => this.#forget(), this.#silentMs / 2).unref()
  }

  #forget(): void {
    const nowMs = performance.now()
    for (const { id, heardMs } of this.#followers.values())
      if (nowMs - heardMs > this.#silentMs) this.#followers.delete(id)
    if (this.#followers.size > 0) return
    this.#changes.delete(this.#change)
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  readonly #change = (shard: number, key: string | undefined, origin: number | undefined): void => {
    for (const follower of this.#followers.values()) {
      if (!follower.shards.has(shard)) continue
      follower.waiting.push([key ?? null, origin ?? 0])
      follower.characters += key?.length ?? 0
      if (follower.characters > TOGETHER_MAX) this.#flushOne(follower)
    }
    if (this.#isFlushing) return
    this.#isFlushing = true
    // All of this turn go together.
    setImmediate(() => {
      this.#isFlushing = false
      for (const follower of this.#followers.values()) this.#flushOne(follower)
    })
  }

  #flushOne(follower: Follower): void {
    if (follower.waiting.length === 0) return
    follower.sequence += 1
    const { id: feed, rank, sequence, waiting: changes } = follower
    follower.waiting = []
    follower.characters = 0
    this.#node.tellNode(rank, packFeed({ feed, sequence, changes }))
  }
}

function newFeed(): Pick<Follower, 'shards' | 'sequence' | 'heardMs'> {
  return { shards: new Set(), sequence: Math.floor(Math.random() * SEQUENCES), heardMs: 0 }
}

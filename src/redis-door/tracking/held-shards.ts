import type { FeedNode } from './feed-node.ts'

/** Which of the shards that a node holds are not cut off: they have all that was answered to anyone, or soon will. */
export class HeldShards {
  readonly #node: FeedNode
  readonly #silentMs: number
  /** Those that are asked at the moment. */
  readonly #asked = new Set<number>()
  readonly #cutOff = new Set<number>()

  /** After `silentMs` without an answer of a majority, a shard is cut off. */
  constructor(node: FeedNode, silentMs: number) {
    this.#node = node
    this.#silentMs = silentMs
  }

  get whole(): readonly number[] {
    return [...this.#node.held.keys()].filter((shard) => !this.#cutOff.has(shard))
  }

  /** Ask a majority of each. What comes of it shows later. */
  look(): void {
    for (const shard of this.#cutOff) if (!this.#node.held.has(shard)) this.#cutOff.delete(shard)
    for (const [shard, replica] of this.#node.held) {
      if (this.#asked.has(shard)) continue
      this.#asked.add(shard)
      replica
        .versions([], { timeoutMs: this.#silentMs, signal: undefined })
        .then(
          () => this.#cutOff.delete(shard),
          () => this.#cutOff.add(shard),
        )
        .finally(() => this.#asked.delete(shard))
    }
  }
}

import { type IndexNode, latin1Of } from '../../index-service/index.ts'

/** `key`: in latin1; undefined if any key of the shard may have changed. `origin`: who has changed it, if known. */
export type OnShardChange = (shard: number, key: string | undefined, origin: number | undefined) => void

/** Changes of keys of the shards that this node holds. The node tells of none while no one listens. */
export class ShardChanges {
  readonly #node: Pick<IndexNode, 'changeListener'>
  readonly #listeners = new Set<OnShardChange>()

  constructor(node: Pick<IndexNode, 'changeListener'>) {
    this.#node = node
  }

  add(listener: OnShardChange): void {
    this.#listeners.add(listener)
    this.#node.changeListener = (shard, key, origin) => {
      const name = key && latin1Of(key)
      for (const each of this.#listeners) each(shard, name, origin)
    }
  }

  delete(listener: OnShardChange): void {
    this.#listeners.delete(listener)
    if (this.#listeners.size === 0) this.#node.changeListener = undefined
  }
}

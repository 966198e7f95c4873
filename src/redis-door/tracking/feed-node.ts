import type { IndexNode, NodeCard, ShardReplica } from '../../index-service/index.ts'

/** What feeds need of a node. */
export interface FeedNode extends Pick<IndexNode, 'rank' | 'shards' | 'tellNode' | 'onTold'> {
  readonly held: ReadonlyMap<number, Pick<ShardReplica, 'versions'>>
  readonly nodes: readonly Pick<NodeCard, 'rank' | 'door' | 'holds'>[]
}

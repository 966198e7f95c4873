import type { IndexNode, NodeCard } from '../../index-service/index.ts'

/** What feeds need of a node. */
export interface FeedNode extends Pick<IndexNode, 'rank' | 'shards' | 'tellNode' | 'onTold'> {
  readonly held: ReadonlyMap<number, { readonly leader: number | undefined }>
  readonly nodes: readonly Pick<NodeCard, 'rank' | 'door' | 'holds'>[]
}

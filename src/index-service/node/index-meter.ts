import { type CounterBlock, type CounterLayout, defineCounters, threadProfiling } from '../../profiling/index.ts'
import type { IndexNodeFigures, IndexShardFigures } from './index-contract.ts'

const nodeGauges = ['shards', 'replicas', 'bytesMax'] as const
const shardGauges = ['state', 'leads', 'keys', 'expiring', 'waiting', 'bytesUsed', 'bytesHeld'] as const

type NodeFigure = 'slow' | (typeof nodeGauges)[number]
type ShardFigure = 'evicted' | (typeof shardGauges)[number]

/** What a shard is to a node, as the gauge `state` has it. */
export const ShardState = { Holds: 1, Opening: 2, Leaving: 3 } as const

/** A {@link ShardState}. */
export type ShardStateNumber = (typeof ShardState)[keyof typeof ShardState]

export const indexNodeCounters: CounterLayout<NodeFigure> = defineCounters('index.node', ['slow', ...nodeGauges], {
  gauges: nodeGauges,
  labelled: 'index',
  help: {
    '': 'Nodes of an index, by its name, as each process has them.',
    slow: 'Calls of clients that took long, see `slowMs`.',
    shards: 'How many parts the keys are divided into.',
    replicas: 'How many nodes vote in each shard.',
    bytesMax: 'What keys and values of all shards may take.',
  },
})

export const indexShardCounters: CounterLayout<ShardFigure> = defineCounters(
  'index.shard',
  ['evicted', ...shardGauges],
  {
    gauges: shardGauges,
    labelled: 'shard,index',
    help: {
      '': 'Shards of an index that a process holds, takes over or leaves, four times a second.',
      evicted: 'Keys that were evicted.',
      state: 'Whether it holds the shard (1), takes it over (2), or leaves it (3).',
      leads: 'Whether it leads: 1 or 0.',
      keys: 'Keys of all databases.',
      expiring: 'Keys that will expire.',
      waiting: 'Calls that wait for something to take.',
      bytesUsed: 'What keys and values take; what is bounded.',
      bytesHeld: 'Shared memory that is held for strings and fields of hashes.',
    },
  },
)

/** What a node shows of itself, besides what it says when it is asked. */
export interface ShownNode {
  readonly figures: IndexNodeFigures
  readonly shards: number
  readonly replicas: number
  /** Shards that it takes over or leaves now. */
  readonly moving: ReadonlyMap<number, ShardStateNumber>
}

interface ShownShard {
  readonly block: CounterBlock<ShardFigure>
  evicted: number
}

/** Shows in the memory of its process what a node of an index holds, for those who look from outside. */
export class IndexMeter {
  readonly #name: string
  readonly #block: CounterBlock<NodeFigure>
  readonly #shards = new Map<number, ShownShard>()
  #slow = 0

  constructor(name: string) {
    this.#name = name
    this.#block = threadProfiling().counters(indexNodeCounters, name)
  }

  show({ figures, shards, replicas, moving }: ShownNode): void {
    const { rank, memoryBytes, slow } = figures
    this.#block.add('slow', slow - this.#slow)
    this.#slow = slow
    for (const [name, value] of Object.entries({ shards, replicas, bytesMax: memoryBytes }))
      this.#block.set(name as NodeFigure, value)
    for (const [shard, { block }] of this.#shards) {
      if (moving.has(shard) || figures.shards.some((each) => each.shard === shard)) continue
      block.close()
      this.#shards.delete(shard)
    }
    for (const each of figures.shards) this.#showShard(each, rank, moving.get(each.shard) ?? ShardState.Holds)
    for (const [shard, state] of moving) this.#blockOf(shard).block.set('state', state)
  }

  close(): void {
    for (const { block } of this.#shards.values()) block.close()
    this.#block.close()
  }

  #showShard(figures: IndexShardFigures, rank: number, state: ShardStateNumber): void {
    const { shard, leader, keys, expiring, waiting, evicted, usedBytes, heldBytes } = figures
    const shown = this.#blockOf(shard)
    // The next replica counts from 0.
    shown.block.add('evicted', Math.max(0, evicted - shown.evicted))
    shown.evicted = evicted
    const leads = leader === rank ? 1 : 0
    const gauges = { state, leads, keys, expiring, waiting, bytesUsed: Math.round(usedBytes), bytesHeld: heldBytes }
    for (const [name, value] of Object.entries(gauges)) shown.block.set(name as ShardFigure, value)
  }

  #blockOf(shard: number): ShownShard {
    const known = this.#shards.get(shard)
    if (known !== undefined) return known
    const shown = { block: threadProfiling().counters(indexShardCounters, `${shard} ${this.#name}`), evicted: 0 }
    this.#shards.set(shard, shown)
    return shown
  }
}

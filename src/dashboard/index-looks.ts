import { indexNodeCounters, indexShardCounters, ShardState } from '../index-service/index.ts'
import type { SeenMember } from './operation-rates.ts'
import type { IndexFrame, IndexNodeFrame, IndexShardFrame, MachineFrame } from './wire.ts'

type Values = Readonly<Record<string, number>>

const states = new Map<number, IndexShardFrame['state']>([
  [ShardState.Holds, 'holds'],
  [ShardState.Opening, 'opening'],
  [ShardState.Leaving, 'leaving'],
])

/** Turns what nodes of indexes show into figures of the indexes. */
export class IndexLooks {
  #machines: readonly MachineFrame[] | undefined
  #frames: readonly IndexFrame[] = []

  /** The same list as before until there are newer machines: a shard is one. */
  next(
    members: readonly Pick<SeenMember, 'number' | 'profile'>[],
    machines: readonly MachineFrame[],
  ): readonly IndexFrame[] {
    if (machines === this.#machines) return this.#frames
    this.#machines = machines
    const frames = new Map<string, IndexFrame & { readonly nodes: IndexNodeFrame[] }>()
    for (const { number, profile } of members) {
      const counters = profile.counters().filter(({ rest }) => !rest)
      for (const { name, label, values } of counters) {
        if (name !== indexNodeCounters.name) continue
        const { shards = 0, replicas = 0, bytesMax = 0, slow = 0 } = values
        const shown = counters.flatMap((each) => {
          const found = each.name === indexShardCounters.name ? /^(\d+) (.*)$/s.exec(each.label) : null
          return found?.[2] === label ? [{ shard: Number(found[1]), values: each.values }] : []
        })
        const ofShard = shown
          .map((each) => shardFrame(each, machineOf(machines, { name: label, shards, number, shard: each.shard })))
          .sort((one, other) => one.shard - other.shard)
        const frame = frames.get(label) ?? { name: label, shards, replicas, nodes: [] }
        frame.nodes.push({ number, bytesMax, slow, shards: ofShard })
        frames.set(label, frame)
      }
    }
    for (const { nodes } of frames.values()) nodes.sort((one, other) => one.number - other.number)
    this.#frames = [...frames.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
    return this.#frames
  }
}

function machineOf(
  machines: readonly MachineFrame[],
  { name, shards, number, shard }: { name: string; shards: number; number: number; shard: number },
): MachineFrame | undefined {
  const machine = shards === 1 ? `index/${name}` : `index/${name}/${shard}`
  return machines.find((each) => each.name === machine && each.number === number)
}

function shardFrame(
  { shard, values }: { readonly shard: number; readonly values: Values },
  machine: MachineFrame | undefined,
): IndexShardFrame {
  const of = (figure: (typeof indexShardCounters.counters)[number]): number => values[figure] ?? 0
  return {
    shard,
    state: states.get(of('state')) ?? 'opening',
    leads: of('leads') === 1,
    behind: machine?.behind ?? null,
    keys: of('keys'),
    expiring: of('expiring'),
    waiting: of('waiting'),
    bytesUsed: of('bytesUsed'),
    bytesHeld: of('bytesHeld'),
    evicted: of('evicted'),
  }
}

import type { ShardFigures } from '../../index-service/index.ts'
import type { DoorServices } from '../door-services.ts'

const DATABASES = 16

/** What is counted for INFO and MEMORY STATS. */
export interface DoorFigures {
  /** Keys of each database, by its number. Undefined: a shard could not be asked. */
  readonly keys: readonly number[] | undefined
  /** The same of keys that will expire, in shards that are held here. */
  readonly expiring: readonly number[]
  /** Bytes of keys, values and calls that wait, in shards that are held here. */
  readonly usedBytes: number
  /** Shared memory that is held for strings and fields of hashes. */
  readonly heldBytes: number
  /** Keys that were evicted, of shards that are held here. */
  readonly evictedKeys: number
  readonly heldShards: number
  readonly ledShards: number
  /** Other nodes that have everything that was answered, of the shard of which fewest do. */
  readonly followers: number
}

export async function figuresOf(door: DoorServices): Promise<DoorFigures> {
  const { node } = door
  const held = [...node.held.values()]
  const sum = (of: (shard: (typeof held)[number]) => number): number =>
    held.reduce((total, shard) => total + of(shard), 0)
  return {
    keys: await keysOfDatabases(door).catch(() => undefined),
    expiring: Array.from({ length: DATABASES }, (_, db) => sum(({ figures }) => expiringIn(figures, db))),
    usedBytes: sum(({ figures }) => figures.usedBytes),
    heldBytes: sum(({ figures }) => figures.heldBytes),
    evictedKeys: sum(({ figures }) => figures.evicted),
    heldShards: held.length,
    ledShards: held.filter(({ leader }) => leader === node.rank).length,
    followers: await followersOf(door),
  }
}

function expiringIn({ databases }: ShardFigures, db: number): number {
  return databases.find((each) => each.db === db)?.expiring ?? 0
}

async function keysOfDatabases({ router }: DoorServices): Promise<readonly number[]> {
  const calls = Array.from({ length: DATABASES }, (_, db) => ({ name: 'dbsize', args: [], db }))
  const replies = await Promise.all(router.lines.map((line) => line.read(calls)))
  return calls.map((_, db) => replies.reduce((total, shard) => total + Number(shard[db]), 0))
}

/**
 * How many other nodes have what was answered, in all shards. The leader counts those that lack nothing. Any other node
 * knows only that a majority has it.
 */
export async function followersOf({ node }: DoorServices): Promise<number> {
  const counts = await Promise.all(
    [...node.held.values()].map(async (replica) => {
      const { isLeader, lags, voters } = await replica.status()
      if (isLeader) return lags.filter(({ rank, entries }) => rank !== node.rank && entries === 0).length
      return Math.floor((voters?.length ?? 1) / 2)
    }),
  )
  return counts.length === 0 ? 0 : Math.min(...counts)
}

/** Such as `db0:keys=1,expires=0,avg_ttl=0`. */
export function keyspaceLines({ keys, expiring }: DoorFigures): readonly (readonly [string, string])[] {
  const sizes = (keys ?? []).map((size, db) => [db, size] as const).filter(([, size]) => size > 0)
  return sizes.map(([db, size]) => [`db${db}`, `keys=${size},expires=${expiring[db]},avg_ttl=0`])
}

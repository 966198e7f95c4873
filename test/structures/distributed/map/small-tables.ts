import assert from 'node:assert/strict'
import { number } from '../../../../src/codecs/index.ts'
import { takeCensus } from '../../../../src/structures/distributed/census.ts'
import { HomeStructures } from '../../../../src/structures/distributed/home-structures.ts'
import { GroupMap } from '../../../../src/structures/distributed/map/group-map.ts'
import { openMapPart } from '../../../../src/structures/distributed/map/open-part.ts'
import type { GroupMemory } from '../../../../src/structures/distributed/memory/group-memory.ts'
import type { MapKey } from '../../../../src/structures/index.ts'
import { codecParameter } from '../../../../src/structures/values/codec-parameter.ts'

/** The ranks of a world, and how its time goes on until something is done. */
interface World {
  readonly ranks: readonly GroupMemory[]
  play<T>(work: Promise<T>): Promise<T>
}

/**
 * A map of numbers at rank 0 whose tables have few slots, so that they are split after a few entries; as each rank has
 * it.
 */
export async function openSmallTables(world: World, buckets: number, maxEntries = 0): Promise<GroupMap<number>[]> {
  const request = { name: 'small', ttlMs: 0, maxEntries, codec: codecParameter(number), capacity: 1, buckets, parts: 1 }
  const parts = await world.play(
    Promise.all(world.ranks.map((memory) => openMapPart(new HomeStructures(memory, 0), request))),
  )
  return parts.map((part) => new GroupMap('small', [part], { codec: number, ttlMs: 0, valueBytesMax: 1000 }))
}

/** Sets keys to themselves. */
export async function fill(map: GroupMap<number>, from: number, count: number): Promise<void> {
  for (let key = from; key < from + count; key += 1) await map.set(key, key)
}

/** All that is in it. @throws AssertionError where a key is given twice */
export async function entriesOf(map: GroupMap<number>): Promise<Map<MapKey, number>> {
  const found = new Map<MapKey, number>()
  for await (const [key, value] of map) {
    assert.equal(found.has(key), false, String(key))
    found.set(key, value)
  }
  return found
}

/** Chunks at rank 0 that are tables: those that maps have, and those that belong to somebody. */
export async function tablesOf(world: World): Promise<{ live: ReadonlySet<number>; taken: ReadonlySet<number> }> {
  const home = new HomeStructures(world.ranks[0]!, 0)
  const { tables } = await world.play(takeCensus(home.on('a census')))
  const taken = await world.play(home.pool.chunks.taken())
  const owned = taken.filter(({ use }) => use.kind === 'map table').map(({ index }) => index * 65_536)
  return { live: tables, taken: new Set(owned) }
}

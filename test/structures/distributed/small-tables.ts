import { codecNumber, number } from '../../../src/structures/codec/codecs.ts'
import { Home } from '../../../src/structures/distributed/home.ts'
import { GroupMap } from '../../../src/structures/distributed/map.ts'
import { openMapPart } from '../../../src/structures/distributed/open-map.ts'
import type { FakeWorld } from './fake-world.ts'

/** A map of numbers at rank 0 whose tables have few slots, so that they are split after a few entries; as each rank has it. */
export async function openSmallTables(world: FakeWorld, buckets: number, maxEntries = 0): Promise<GroupMap<number>[]> {
  const request = { name: 'small', ttlMs: 0, maxEntries, codec: codecNumber(number), capacity: 1, buckets, parts: 1 }
  const parts = await world.play(Promise.all(world.ranks.map((words) => openMapPart(new Home(words, 0), request))))
  return parts.map((part) => new GroupMap('small', [part], { codec: number, ttlMs: 0, valueBytesMax: 1000 }))
}

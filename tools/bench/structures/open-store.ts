import { openAetherStore } from './aether-store.ts'
import type { BenchStore, Meeting, RegionName, StoreName } from './bench-store.ts'
import { openLmdbStore } from './lmdb-store.ts'
import { openMapStore } from './map-store.ts'
import { openRedisStore } from './redis-store.ts'
import { openRegionStore } from './region-store.ts'

const openers: Readonly<Record<StoreName, (meeting: Meeting) => Promise<BenchStore>>> = {
  aether: openAetherStore,
  Map: openMapStore,
  Redis: openRedisStore,
  lmdb: openLmdbStore,
}

/** Open a store in this process, which is number `rank` of those that do. */
export function openStore(name: StoreName | RegionName, meeting: Meeting, rank: number): Promise<BenchStore> {
  if (name === 'hardware' || name === 'directory') return openRegionStore(name, meeting, rank)
  return openers[name](meeting)
}

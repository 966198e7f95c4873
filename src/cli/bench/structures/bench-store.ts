import { openAetherStore } from './aether-store.ts'
import { openLmdbStore } from './lmdb-store.ts'
import { openMapStore } from './map-store.ts'
import { openRedisStore } from './redis-store.ts'

/** What is compared. */
export const storeNames = ['aether', 'Map', 'Redis', 'lmdb'] as const
export type StoreName = (typeof storeNames)[number]

/** One operation each, on a value that is given once; what gives a promise is awaited. A store has those that are natural to it. */
export interface StoreOperations {
  get(key: string): unknown
  set(key: string): unknown
  /** Replace a value by one that depends on it, in one step. */
  update(key: string): unknown
  push?(): unknown
  pop?(): unknown
  /** Add one to a number. */
  add?(): unknown
}

/** A store as one process holds it. */
export interface BenchStore {
  /** Whether operations give promises. */
  readonly waits: boolean
  /** What it does with values like this one, of which it keeps a copy if it has to. */
  operations(value: Uint8Array): StoreOperations
  /** Forget everything. */
  clear(): Promise<void>
  close(): Promise<void>
}

/** Where the processes of a run meet. */
export interface Meeting {
  readonly space: string
  readonly directory: string
}

const openers: Readonly<Record<StoreName, (meeting: Meeting) => Promise<BenchStore>>> = {
  aether: openAetherStore,
  Map: openMapStore,
  Redis: openRedisStore,
  lmdb: openLmdbStore,
}

/** Open a store in this process. */
export function openStore(name: StoreName, meeting: Meeting): Promise<BenchStore> {
  return openers[name](meeting)
}

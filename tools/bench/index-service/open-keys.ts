import { openAetherStore } from '../structures/aether-store.ts'
import type { BenchStore } from '../structures/bench-store.ts'
import { openLmdbStore } from '../structures/lmdb-store.ts'
import { openAetherKeys } from './aether-keys.ts'
import type { KeyStore, KeysName, KeysPlace } from './key-store.ts'
import { openRedisKeys } from './redis-keys.ts'

const openers: Readonly<Record<KeysName, (place: KeysPlace) => Promise<KeyStore>>> = {
  aether: openAetherKeys,
  Redis: openRedisKeys,
  lmdb: async ({ name, directory }) => ofBenchStore(await openLmdbStore({ space: name, directory })),
  structures: async ({ name, directory }) => ofBenchStore(await openAetherStore({ space: name, directory })),
}

/** Open a store in this process. @throws AetherError where what it needs is not installed. */
export function openKeys(name: KeysName, place: KeysPlace): Promise<KeyStore> {
  return openers[name](place)
}

function ofBenchStore(store: BenchStore): KeyStore {
  let held: Uint8Array = new Uint8Array()
  let operations = store.operations(held)
  const set = (key: string, value: Uint8Array): unknown => {
    if (value !== held) {
      held = value
      operations = store.operations(value)
    }
    return operations.set(key)
  }
  return {
    waits: store.waits,
    get: (key) => operations.get(key),
    set,
    async setAll(keys, value) {
      for (const key of keys) await set(key, value)
    },
    close: () => store.close(),
  }
}

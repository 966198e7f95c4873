import { open, type Space } from 'aether-dsm/internal/dsm'
import { bytes, openStructures, type StructuresOptions } from 'aether-dsm/internal/structures'
import type { BenchStore, Meeting } from './bench-store.ts'

/** Taken as it is touched. */
const SIZE = '512MiB'

/** Map, queue and counter of shared memory; values as bytes, which are copied in and out. */
export async function openAetherStore({ space }: Meeting): Promise<BenchStore> {
  return await aetherStore(await open(space), { size: SIZE, reserve: false })
}

/** The same in a space that is open already, and is closed with it. */
export async function aetherStore(space: Space, options: StructuresOptions): Promise<BenchStore> {
  const structures = await openStructures(space, options).catch(async (error: unknown) => {
    await space.close()
    throw error
  })
  const map = await structures.map('map', { codec: bytes })
  const queue = await structures.queue('queue', { codec: bytes })
  const counter = await structures.counter('counter')
  return {
    waits: false,

    operations: (value) => ({
      get: (key) => map.getSync(key),
      set: (key) => map.setSync(key, value),
      update: (key) => map.updateSync(key, (there) => there ?? value),
      push: () => queue.tryPushSync(value),
      pop: () => queue.tryPopSync(),
      add: () => counter.addSync(),
    }),

    async clear() {
      map.clearSync()
      structures.recover()
    },

    async close() {
      await structures.close()
      await space.close()
    },
  }
}

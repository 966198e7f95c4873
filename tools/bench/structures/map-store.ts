import type { BenchStore } from './bench-store.ts'

/** A `Map` and a word of this process: what there is without sharing. It hands out the very bytes that it keeps. */
export async function openMapStore(): Promise<BenchStore> {
  const map = new Map<string, Uint8Array>()
  const words = new BigInt64Array(new SharedArrayBuffer(64))
  return {
    waits: false,

    operations: (value) => ({
      get: (key) => map.get(key),
      set: (key) => map.set(key, value),
      update: (key) => map.set(key, map.get(key) ?? value),
      // As the shared counter does: a number in, a number out.
      add: () => Number(Atomics.add(words, 0, 1n)) + 1,
    }),

    async clear() {
      map.clear()
    },

    async close() {},
  }
}

import { type CoherenceKind, join } from 'aether-dsm/internal/dsm'
import type { BenchStore, Meeting } from './bench-store.ts'
import { keysOf } from './job.ts'
import { keyName } from './measurement.ts'

const SYSTEM_PAGE_BYTES = 4096
/** On a busy machine, a process that gets no CPU for long has not died. */
const LEASE_MS = 60_000

/**
 * A region of coherent memory. Each key has its own place, which every process looks up in a `Map`. A get is a
 * `readSync` of the whole value into the same buffer, a set is a `writeSync`.
 */
export async function openRegionStore(
  coherence: CoherenceKind,
  { space, processes = 1, bytes = 8 }: Meeting,
  rank: number,
): Promise<BenchStore> {
  const keys = keysOf(bytes)
  const size = Math.ceil((keys * bytes) / SYSTEM_PAGE_BYTES) * SYSTEM_PAGE_BYTES
  const group = await join({ rank, size: processes, rendezvous: `local:${space}`, leaseMs: LEASE_MS })
  const region = await group.openRegion('values', {
    size,
    coherence,
    ...(coherence !== 'hardware' && { pageSize: SYSTEM_PAGE_BYTES, placement: 'cyclic' as const }),
  })
  const places = new Map(Array.from({ length: keys }, (_, key) => [keyName(key), key * bytes] as const))
  return {
    waits: false,

    operations(value) {
      const target = new Uint8Array(value.length)
      return {
        get: (key) => region.readSync(places.get(key)!, target),
        set: (key) => region.writeSync(places.get(key)!, value),
        update(key) {
          region.readSync(places.get(key)!, target)
          region.writeSync(places.get(key)!, target)
        },
      }
    },

    async clear() {},

    async close() {
      await region.close()
      await group.close()
    },
  }
}

import type { ReadersOf } from '../../consensus/index.ts'
import { native } from '../../native/index.ts'
import { mapForeignMemory } from '../../runtime/index.ts'
import { Access, type MemoryRegion, type ProtectionDomain } from '../../verbs/index.ts'
import type { RecordTable } from '../memory/record-table.ts'
import type { ShardMemory } from './index-contract.ts'

/** A page has all words of a replica's memory that are looked at. */
const HEAD_BYTES = 4096

/** Memory of a shard that other machines may READ. It is registered when it is asked for first. */
export class ShardRegions {
  readonly #domain: ProtectionDomain
  readonly #chunks: MemoryRegion[] = []
  /** Of replicas of this process, by their ids. A replica's memory stays mapped when it has ended. */
  readonly #heads = new Map<number, { readonly region: MemoryRegion; readonly mapping: ArrayBuffer }>()

  constructor(domain: ProtectionDomain) {
    this.#domain = domain
  }

  /** What there is by now. */
  told({ chunks, identity }: RecordTable, { sights }: ReadersOf): Omit<ShardMemory, 'place'> {
    while (this.#chunks.length < chunks.length)
      this.#chunks.push(this.#domain.register(chunks[this.#chunks.length]!, Access.RemoteRead))
    const own = sights.filter(({ processId }) => processId === process.pid)
    for (const sight of own) {
      if (this.#heads.has(sight.id)) continue
      const mapping = mapForeignMemory({ ...sight, lengthBytes: HEAD_BYTES })
      if (mapping === undefined) continue
      this.#heads.set(sight.id, { mapping, region: this.#domain.register(mapping, Access.RemoteRead) })
    }
    const placeOf = ({ address, remoteKey }: MemoryRegion) => ({ address, key: remoteKey })
    return {
      identity,
      chunks: this.#chunks.map(placeOf),
      heads: own.flatMap(({ id }) => {
        const head = this.#heads.get(id)
        return head === undefined ? [] : [{ id, ...placeOf(head.region) }]
      }),
    }
  }

  /** Nothing of it can be READ from then on: before it is unmapped. */
  close(): void {
    for (const region of this.#chunks.splice(0)) region.close()
    for (const { region, mapping } of this.#heads.values()) {
      region.close()
      native.unmapMemory(mapping)
    }
    this.#heads.clear()
  }
}

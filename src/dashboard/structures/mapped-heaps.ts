import { readSync } from 'node:fs'
import type { SpaceObserver } from '../../cluster/index.ts'
import { type ObservedRegion, observedRegions } from '../../dsm/index.ts'
import { native } from '../../native/index.ts'
import { HEAP_IDENTITY_BYTES, HeapSight, heapBytesOf, identifyHeap, NamedStructures } from '../../structures/index.ts'

const PAGE_BYTES = 4096

/** A region with structures, mapped. */
export interface MappedHeap {
  readonly region: string
  readonly heap: HeapSight
  readonly names: NamedStructures
}

/** The regions of a space that hold structures. */
export interface FoundHeaps {
  readonly heaps: readonly MappedHeap[]
  /** Regions whose structures were made by another version of this package. */
  readonly others: readonly ObservedRegion[]
}

interface Mapping extends MappedHeap {
  /** Tells the region from an earlier or later one of its name. */
  readonly identity: string
  readonly memory: ArrayBuffer
}

/**
 * Finds the regions with structures, by their first bytes, and keeps them mapped. The mapping is for reading, though
 * the addon maps everything for writing too. The arena is sealed against shrinking, so a mapping never ends early.
 */
export class MappedHeaps implements Disposable {
  readonly #observer: SpaceObserver
  readonly #mappings = new Map<string, Mapping>()

  constructor(observer: SpaceObserver) {
    this.#observer = observer
  }

  find(regions: readonly ObservedRegion[] = observedRegions(this.#observer)): FoundHeaps {
    const found = new Map<string, Mapping>()
    const others: ObservedRegion[] = []
    for (const region of regions) {
      if (region.coherence !== 'hardware' || region.length === 0) continue
      const identity = identifyHeap(this.#firstBytes(region), region.size)
      if (identity === 'other version') others.push(region)
      if (identity === 'heap') found.set(region.name, this.#mapping(region))
    }
    for (const [name, mapping] of this.#mappings) {
      if (found.get(name) === mapping) continue
      native.unmapMemory(mapping.memory)
      this.#mappings.delete(name)
    }
    for (const [name, mapping] of found) this.#mappings.set(name, mapping)
    return { heaps: [...found.values()], others }
  }

  [Symbol.dispose](): void {
    for (const { memory } of this.#mappings.values()) native.unmapMemory(memory)
    this.#mappings.clear()
  }

  #mapping(region: ObservedRegion): Mapping {
    const { index, generation, name, offset, size } = region
    const identity = `${index} ${generation} ${offset} ${size}`
    const known = this.#mappings.get(name)
    if (known?.identity === identity) return known
    const lengthBytes = Math.ceil(size / PAGE_BYTES) * PAGE_BYTES
    const { descriptor, clockShiftMs } = this.#observer.arena
    const memory = native.mapMemory(descriptor, offset, lengthBytes, 0)
    const heap = new HeapSight(new Uint8Array(memory, 0, heapBytesOf(size)), clockShiftMs)
    return { region: name, heap, names: new NamedStructures(heap), identity, memory }
  }

  /** By read(2), which leaves holes as they are. */
  #firstBytes({ offset }: ObservedRegion): Uint8Array {
    const bytes = new Uint8Array(HEAP_IDENTITY_BYTES)
    readSync(this.#observer.arena.descriptor, bytes, 0, bytes.length, offset)
    return bytes
  }
}

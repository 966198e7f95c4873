import { type Heap, offsetOf } from '../heap/heap.ts'
import { ENTRY_BYTES, EntryOffset, ObjectOffset, VersionOffset, WriteSetOffset } from './layout.ts'

/** One entry of a write set. */
export interface Entry {
  /** Where it is in memory. */
  readonly at: number
  readonly kind: number
  readonly object: number
  readonly objectState: number
  readonly version: number
  readonly versionState: number
}

/** Words of objects, versions and write sets, by reference. */
export class Words {
  readonly heap: Heap

  constructor(heap: Heap) {
    this.heap = heap
  }

  lock(object: number): number {
    return this.heap.memory.load(offsetOf(object) + ObjectOffset.Lock)
  }

  head(object: number): number {
    return this.heap.memory.load(offsetOf(object) + ObjectOffset.Head)
  }

  older(version: number): number {
    return this.heap.memory.load(offsetOf(version) + VersionOffset.Older)
  }

  /** Of a version; 0 for none. */
  clock(version: number): number {
    return version === 0 ? 0 : this.heap.memory.peekFloat(offsetOf(version) + VersionOffset.Clock)
  }

  length(version: number): number {
    return this.heap.memory.peek(offsetOf(version) + VersionOffset.Length)
  }

  /** Whether it is known to be committed: its clock is final then. */
  isCommitted(set: number): boolean {
    return this.heap.memory.load(offsetOf(set) + WriteSetOffset.Linked) !== 0
  }

  clockOfSet(set: number): number {
    return this.heap.memory.peekFloat(offsetOf(set) + WriteSetOffset.Clock)
  }

  count(set: number): number {
    return this.heap.memory.load(offsetOf(set) + WriteSetOffset.Count)
  }

  ownerOf(set: number): number {
    return this.heap.memory.peek(offsetOf(set) + WriteSetOffset.Owner)
  }

  entry(set: number, index: number): Entry {
    const { memory } = this.heap
    const at = entryAt(set, index)
    return {
      at,
      kind: memory.peek(at + EntryOffset.Kind),
      object: memory.load(at + EntryOffset.Object),
      objectState: memory.peek(at + EntryOffset.ObjectState),
      version: memory.load(at + EntryOffset.Version),
      versionState: memory.peek(at + EntryOffset.VersionState),
    }
  }

  entries(set: number): readonly Entry[] {
    return Array.from({ length: this.count(set) }, (_, index) => this.entry(set, index))
  }

  /** What a write set makes of an object; 0 where it has no version of it. */
  versionIn(set: number, object: number): number {
    const { memory } = this.heap
    const count = this.count(set)
    for (let index = 0; index < count; index += 1) {
      const at = entryAt(set, index)
      if (memory.load(at + EntryOffset.Object) === object) return memory.load(at + EntryOffset.Version)
    }
    return 0
  }

  unlock(object: number, set: number): void {
    this.heap.memory.compareExchange(offsetOf(object) + ObjectOffset.Lock, set, 0)
  }
}

export function entryAt(set: number, index: number): number {
  return offsetOf(set) + WriteSetOffset.Entries + index * ENTRY_BYTES
}

/** The bytes of a write set of `capacity` entries. */
export function writeSetBytes(capacity: number): number {
  return WriteSetOffset.Entries + capacity * ENTRY_BYTES
}

/** Make a block that was just taken a write set without entries. */
export function clearWriteSet(heap: Heap, set: number): void {
  const { memory, owner } = heap
  const at = offsetOf(set)
  for (const word of [WriteSetOffset.Linked, WriteSetOffset.Next, WriteSetOffset.Count, WriteSetOffset.Finished])
    memory.poke(at + word, 0)
  memory.pokeFloat(at + WriteSetOffset.Clock, 0)
  memory.poke(at + WriteSetOffset.Owner, owner)
}

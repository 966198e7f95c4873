import { StructureError } from '../errors.ts'
import { type Heap, offsetOf } from '../heap/heap.ts'
import { Reach } from '../heap/reach.ts'
import type { CommitLog } from './commit-log.ts'
import { EntryKind, EntryOffset, GONE, OBJECT_BYTES, ObjectOffset, VersionOffset, WriteSetOffset } from './layout.ts'
import { type MvRluObject, objectId } from './object-id.ts'
import { finish, undo } from './settle.ts'
import { type Entry, entryAt, type Words } from './write-set.ts'

/** How often to check whether the holder of a locked object is alive: at one in this many conflicts. */
const CONFLICTS_PER_LOOK = 16
let conflicts = 0

/**
 * The write set of a section that has not ended. Everything that it takes or locks is named in it before, so that the
 * member that recovers its owner finds it. An object is noted, then locked; a block is the intent's until it is in its
 * entry.
 */
export class OpenWriteSet {
  /** Its block. */
  readonly set: number
  /** Whether there is anything to commit. */
  changed: boolean = false
  readonly #heap: Heap
  readonly #words: Words
  readonly #capacity: number
  readonly #snapshot: number
  readonly #state: number
  /** Entries by object. */
  readonly #indexes = new Map<number, number>()
  #count = 0

  private constructor(heap: Heap, words: Words, set: number, capacity: number, snapshot: number) {
    this.#heap = heap
    this.#words = words
    this.set = set
    this.#state = heap.blocks.state(set)
    this.#capacity = capacity
    this.#snapshot = snapshot
  }

  /** Undefined where another section of this participant has one. @throws HeapFullError */
  static open(heap: Heap, log: CommitLog, capacity: number, snapshot: number): OpenWriteSet | undefined {
    const set = log.open(capacity)
    return set === 0 ? undefined : new OpenWriteSet(heap, log.words, set, capacity, snapshot)
  }

  find(object: number): Entry | undefined {
    const index = this.#indexes.get(object)
    return index === undefined ? undefined : this.#words.entry(this.set, index)
  }

  /** Whether the object is locked for a change, and not freed. */
  mayWrite(object: number): boolean {
    const kind = this.find(object)?.kind
    return kind === EntryKind.Write || kind === EntryKind.Make
  }

  /** False where it is another's, was changed since the section began, or is gone. */
  lock(object: number, state: number, write: boolean): boolean {
    const known = this.find(object)
    if (known !== undefined) return this.#relock(known, write)
    if (!this.#isOpenFor(object) || !this.#isNewest(object)) return false
    this.#add(object, state, write ? EntryKind.Write : EntryKind.Lock)
    const place = offsetOf(object) + ObjectOffset.Lock
    if (this.#heap.memory.compareExchange(place, 0, this.set) === 0) {
      // Between the look and the lock another may have changed it and gone.
      if (this.#isNewest(object)) return true
      this.#words.unlock(object, this.set)
    }
    this.#removeLast(object)
    return false
  }

  assign(object: number, value: Uint8Array): void {
    this.#write(this.find(object)!, value, value.length)
    this.changed = true
  }

  /** Gives the object. */
  make(value: Uint8Array): MvRluObject {
    const { memory, intent } = this.#heap
    const at = this.#add(0, 0, EntryKind.Make)
    intent.begin(at + EntryOffset.Object, Reach.Cell)
    const { reference, state } = this.#heap.allocate(OBJECT_BYTES)
    memory.poke(offsetOf(reference) + ObjectOffset.Linked, 0)
    memory.poke(offsetOf(reference) + ObjectOffset.Lock, this.set)
    memory.poke(offsetOf(reference) + ObjectOffset.Head, 0)
    memory.poke(at + EntryOffset.ObjectState, state)
    this.#name(at + EntryOffset.Object, reference)
    this.#indexes.set(reference, this.#count - 1)
    this.assign(reference, value)
    return objectId(reference, state)
  }

  free(object: number): void {
    const entry = this.find(object)!
    const { memory, epochs } = this.#heap
    this.changed = true
    if (entry.kind !== EntryKind.Make) {
      this.#write(entry, new Uint8Array(0), GONE)
      memory.poke(entry.at + EntryOffset.Kind, EntryKind.Free)
      return
    }
    // No other member has seen it.
    if (entry.version !== 0) epochs.retire(entry.version, entry.versionState)
    epochs.retire(object, entry.objectState)
    memory.store(entry.at + EntryOffset.Object, 0)
    this.#indexes.delete(object)
  }

  undo(): void {
    const { epochs, self } = this.#heap
    epochs.enter()
    undo(this.#words, this.set, this.#state)
    self.clearWriteSet()
    epochs.exit()
  }

  #relock({ kind, at }: Entry, write: boolean): boolean {
    if (write && kind === EntryKind.Lock) this.#heap.memory.poke(at + EntryOffset.Kind, EntryKind.Write)
    return kind !== EntryKind.Free
  }

  /** Whether it is unlocked; finishes or recovers write sets that need it. */
  #isOpenFor(object: number): boolean {
    const lock = this.#words.lock(object)
    if (lock === 0) return true
    if (this.#words.isCommitted(lock)) finish(this.#words, lock)
    else {
      conflicts += 1
      const ask = conflicts % CONFLICTS_PER_LOOK === 0
      if (this.#heap.isHolderThere(this.#words.ownerOf(lock), ask)) return false
      this.#heap.recover(ask)
    }
    return this.#words.lock(object) === 0
  }

  #isNewest(object: number): boolean {
    const head = this.#words.head(object)
    return head === 0 || (this.#words.clock(head) <= this.#snapshot && this.#words.length(head) !== GONE)
  }

  /**
   * Fill the entry's version, which no other member can see yet. Takes a new block if there is none, or it is too
   * short.
   */
  #write({ at, object, version, versionState }: Entry, value: Uint8Array, length: number): void {
    const { memory, blocks, epochs, intent } = this.#heap
    const lengthBytes = VersionOffset.Value + value.length
    if (version !== 0 && blocks.lengthOf(version) >= lengthBytes) {
      fill(this.#heap, version, value, length)
      return
    }
    if (version !== 0) {
      epochs.retire(version, versionState)
      memory.store(at + EntryOffset.Version, 0)
    }
    intent.begin(at + EntryOffset.Version, Reach.Cell)
    const { reference, state } = this.#heap.allocate(lengthBytes)
    const older = this.#words.head(object)
    const place = offsetOf(reference)
    memory.poke(place + VersionOffset.Linked, 0)
    memory.poke(place + VersionOffset.Older, older)
    memory.poke(place + VersionOffset.OlderState, older === 0 ? 0 : blocks.state(older))
    fill(this.#heap, reference, value, length)
    memory.poke(at + EntryOffset.VersionState, state)
    this.#name(at + EntryOffset.Version, reference)
  }

  /** Put the block that the intent names into its entry. */
  #name(place: number, reference: number): void {
    const { memory, intent } = this.#heap
    intent.arm(0, 0, 0, 0, 0)
    memory.store(place, reference)
    intent.end()
  }

  /** Gives where the entry is. */
  #add(object: number, state: number, kind: number): number {
    const { memory } = this.#heap
    if (this.#count === this.#capacity) {
      const why = `a section may lock or make at most ${this.#capacity} objects (options.objectsMax)`
      throw new StructureError('ERR_AETHER_READ_SECTION', 'mv-rlu', why)
    }
    const at = entryAt(this.set, this.#count)
    memory.poke(at + EntryOffset.ObjectState, state)
    memory.poke(at + EntryOffset.Version, 0)
    memory.poke(at + EntryOffset.Kind, kind)
    memory.store(at + EntryOffset.Object, object)
    if (object !== 0) this.#indexes.set(object, this.#count)
    this.#setCount(this.#count + 1)
    return at
  }

  #removeLast(object: number): void {
    this.#indexes.delete(object)
    this.#setCount(this.#count - 1)
  }

  #setCount(count: number): void {
    this.#count = count
    this.#heap.memory.store(offsetOf(this.set) + WriteSetOffset.Count, count)
  }
}

function fill({ memory }: Heap, version: number, value: Uint8Array, length: number): void {
  memory.poke(offsetOf(version) + VersionOffset.Length, length)
  memory.write(offsetOf(version) + VersionOffset.Value, value, value.length)
}

import assert from 'node:assert/strict'
import { decodeOwn } from '../../codecs/index.ts'
import { HeapFullError, StructureError } from '../errors.ts'
import type { Meter } from '../figures/meter.ts'
import { type Heap, offsetOf } from '../heap/heap.ts'
import { encodeValue, type ValueSettings } from '../values/value-settings.ts'
import type { CommitLog, Reading } from './commit-log.ts'
import { GONE, VersionOffset } from './layout.ts'
import { type MvRluObject, ROOT_STATE, referenceOf, stateOf } from './object-id.ts'
import { OpenWriteSet } from './open-write-set.ts'
import type { Words } from './write-set.ts'

export type { MvRluObject } from './object-id.ts'

/** What a section's objects are opened with. @internal */
export interface SectionSettings<V> extends ValueSettings<V> {
  readonly name: string
  readonly root: MvRluObject
  readonly meter: Meter
  readonly objectsMax: number
  /** Called if it could lock nothing because another section of this thread has objects locked. */
  readonly onHeldUp?: () => void
}

/** Another section of this thread has to end before this one can go on. */
export class OtherSectionError extends StructureError {}

/**
 * A section reads everything as it was when it began, and changes what it has locked, all at once or not at all.
 *
 * It ends with {@link readUnlock}, which commits, or {@link abort}; also with `using`, which aborts.
 */
export class MvRluSection<V> implements Disposable {
  /** The last commit that it sees. */
  readonly clock: number
  readonly #heap: Heap
  readonly #log: CommitLog
  readonly #words: Words
  readonly #settings: SectionSettings<V>
  readonly #reading: Reading
  #writes: OpenWriteSet | undefined
  #state: 'active' | 'committed' | 'aborted' = 'active'
  #failed = false

  /** @internal */
  constructor(heap: Heap, log: CommitLog, settings: SectionSettings<V>) {
    this.#heap = heap
    this.#log = log
    this.#words = log.words
    this.#settings = settings
    this.#reading = log.begin()
    this.clock = this.#reading.snapshot.clock
  }

  /** Whether it was ended without a commit. */
  get aborted(): boolean {
    return this.#state === 'aborted'
  }

  /**
   * The object's value at the moment of this section, or what the section has assigned. Undefined before the first
   * assignment, and for a freed object.
   */
  dereference(object: MvRluObject): V | undefined {
    const reference = this.#check(object)
    const ours = this.#writes?.find(reference)
    if (ours !== undefined && ours.version !== 0) return this.#valueOf(ours.version)
    return this.#isThere(object) ? this.#valueOf(this.#visible(reference)) : undefined
  }

  /**
   * Lock the object, to {@link assign} or {@link free} it. False if another section has locked it, has changed it since
   * this section began, or has freed it: then abort, and start again.
   */
  tryLock(object: MvRluObject): boolean {
    return this.#lock(object, true)
  }

  /**
   * Lock the object so that no other section changes it until the commit, without changing it: for what you have read
   * and decide by.
   */
  tryLockConst(object: MvRluObject): boolean {
    return this.#lock(object, false)
  }

  /**
   * Assign a new value to the object, which must be locked. Others see it after the commit. @throws HeapFullError; the
   * section can only be aborted then.
   */
  assign(object: MvRluObject, value: V): void {
    const writes = this.#writesOf(object)
    const bytes = this.#encode(value)
    this.#attempt(() => writes.assign(referenceOf(this.#heap, object), bytes))
  }

  /** Make an object. Others can find it only through the value of an object that they know. */
  allocate(value: V): MvRluObject {
    this.#checkActive()
    const bytes = this.#encode(value)
    const writes = this.#open()
    if (writes === undefined) throw otherSection(this.#settings.name)
    return this.#attempt(() => writes.make(bytes))
  }

  /**
   * Free the object, which is locked: from the commit on it is gone. Assign all objects that refer to it again in the
   * same section.
   */
  free(object: MvRluObject): void {
    const writes = this.#writesOf(object)
    if (object === this.#settings.root) throw this.#misuse('the root cannot be freed')
    this.#attempt(() => writes.free(referenceOf(this.#heap, object)))
  }

  /**
   * Commit what was assigned, made and freed, if anything, and end the section. Idempotent; not after {@link abort}.
   */
  readUnlock(): void {
    if (this.#state === 'committed') return
    this.#checkActive()
    if (this.#failed) throw this.#misuse('memory ran out in the middle of the section; abort it')
    const writes = this.#writes
    if (writes?.changed !== true) {
      this.#settings.meter.read()
      this.#end('committed')
      return
    }
    this.#log.commit(writes.set)
    const clock = this.#words.clockOfSet(writes.set)
    this.#writes = undefined
    this.#settings.meter.wrote()
    this.#end('committed')
    this.#log.afterCommit(clock)
  }

  /** End the section as if it had not been. Idempotent, also after a commit. */
  abort(): void {
    if (this.#state !== 'active') return
    this.#settings.meter.read()
    this.#end('aborted')
  }

  [Symbol.dispose](): void {
    this.abort()
  }

  #end(state: 'committed' | 'aborted'): void {
    this.#state = state
    if (this.#heap.closed) return
    this.#writes?.undo()
    this.#writes = undefined
    this.#log.end(this.#reading)
  }

  /**
   * The newest version that is not newer than the section. Reads the lock before the head, which is changed before the
   * lock is opened.
   */
  #visible(object: number): number {
    const lock = this.#words.lock(object)
    if (lock !== 0 && this.#words.isCommitted(lock) && this.#words.clockOfSet(lock) <= this.clock) {
      const version = this.#words.versionIn(lock, object)
      if (version !== 0) return version
    }
    let version = this.#words.head(object)
    while (version !== 0 && this.#words.clock(version) > this.clock) {
      const older = this.#words.older(version)
      assert.ok(this.#words.clock(older) < this.#words.clock(version), 'clocks fall from version to version')
      version = older
    }
    return version
  }

  #valueOf(version: number): V | undefined {
    if (version === 0) return undefined
    const { memory } = this.#heap
    const length = this.#words.length(version)
    if (length === GONE) return undefined
    return decodeOwn(this.#settings.codec, memory.copy(offsetOf(version) + VersionOffset.Value, length))
  }

  #lock(object: MvRluObject, write: boolean): boolean {
    const reference = this.#check(object)
    const isRoot = object === this.#settings.root
    const state = isRoot ? ROOT_STATE : stateOf(this.#heap, object)
    const writes = state === undefined ? undefined : this.#open()
    return writes?.lock(reference, state!, write) ?? false
  }

  #open(): OpenWriteSet | undefined {
    const { objectsMax } = this.#settings
    this.#writes ??= this.#attempt(() => OpenWriteSet.open(this.#heap, this.#log, objectsMax, this.clock))
    if (this.#writes === undefined) this.#settings.onHeldUp?.()
    return this.#writes
  }

  #writesOf(object: MvRluObject): OpenWriteSet {
    const reference = this.#check(object)
    const writes = this.#writes
    if (writes?.mayWrite(reference) === true) return writes
    throw this.#misuse('the object is not locked by this section; check that tryLock() returned true')
  }

  #attempt<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      this.#failed = true
      if (error instanceof HeapFullError) this.#log.wantMemory()
      throw error
    }
  }

  #isThere(object: MvRluObject): boolean {
    return object === this.#settings.root || stateOf(this.#heap, object) !== undefined
  }

  #encode(value: V): Uint8Array {
    return encodeValue(this.#settings, this.#settings.name, value)
  }

  #check(object: MvRluObject): number {
    this.#checkActive()
    return referenceOf(this.#heap, object)
  }

  #checkActive(): void {
    this.#heap.checkOpen()
    if (this.#state !== 'active') throw this.#misuse('the section has ended; begin another one with readLock()')
  }

  #misuse(why: string): StructureError {
    return new StructureError('ERR_AETHER_READ_SECTION', this.#settings.name, `'${this.#settings.name}': ${why}`)
  }
}

/** @internal */
export function otherSection(name: string): OtherSectionError {
  const why = `'${name}': another section of this thread has objects locked; end it first, or use update(), which waits`
  return new OtherSectionError('ERR_AETHER_READ_SECTION', name, why)
}

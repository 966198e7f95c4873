import assert from 'node:assert/strict'
import { decodeOwn } from '../../../codecs/index.ts'
import { ClosedError } from '../../../native/index.ts'
import { HeapFullError, StructureError } from '../../errors.ts'
import type { MvRluObject } from '../../mvrlu/section.ts'
import { encodeValue, type ValueSettings } from '../../values/value-settings.ts'
import { Turns } from '../waiting/turns.ts'
import type { Moment } from './commit-clock.ts'
import type { MvRluCore } from './core.ts'
import { ROOT_SLOT, SlotOffset, TABLES_MAX } from './layout.ts'
import type { Version } from './version.ts'
import { MvRluWrites } from './writes.ts'

/** What a section's objects are opened with. @internal */
export interface GroupSectionSettings<V> extends ValueSettings<V> {
  readonly name: string
  readonly objectsMax: number
}

/**
 * A section reads everything as it was when it began, and changes what it has locked, all at once or not at all. As
 * {@link MvRluSection} on one machine, but every call returns a promise.
 *
 * It ends with {@link readUnlock}, which commits, or {@link abort}; also with `await using`, which aborts.
 */
export class GroupMvRluSection<V> implements AsyncDisposable {
  /** The last commit that it sees. */
  readonly clock: number
  readonly #core: MvRluCore
  readonly #settings: GroupSectionSettings<V>
  readonly #section: number
  readonly #writes: MvRluWrites
  /** What it has seen. */
  readonly #seen = new Map<MvRluObject, Promise<Version | undefined>>()
  /** Changes are made one after the other. */
  readonly #turns = new Turns()
  readonly #release = (): Promise<void> => this.abort()
  #state: 'active' | 'committed' | 'aborted' = 'active'
  #failed = false

  /** @internal `section`: its number among all sections of readers of this rank. */
  constructor(core: MvRluCore, settings: GroupSectionSettings<V>, section: number, snapshot: Moment) {
    this.#core = core
    this.#settings = settings
    this.#section = section
    this.#writes = new MvRluWrites(core, snapshot)
    this.clock = snapshot.clock
    core.memory.holds.add(this.#release)
  }

  /** Whether it was ended without a commit. */
  get aborted(): boolean {
    return this.#state === 'aborted'
  }

  /**
   * The object's value at the moment of this section, or what the section has assigned. Undefined before the first
   * assignment, and for a freed object. Two round trips; one if this rank knows the newest version; one more for each
   * version newer than the section. None for what the section has seen before.
   */
  async dereference(object: MvRluObject): Promise<V | undefined> {
    const place = await this.#placeOf(object)
    const ours = this.#writes.find(place)
    if (ours !== undefined) return ours.value && this.#decode(ours.value)
    let seen = this.#seen.get(object)
    if (seen === undefined) {
      seen = this.#visible(object, place)
      this.#seen.set(object, seen)
    }
    const version = await seen
    return version === undefined || version.isGone ? undefined : this.#decode(version.value)
  }

  /**
   * Lock the object, to {@link assign} or {@link free} it. False if another section has locked it, has changed it since
   * this section began, or has freed it: then abort, and start again.
   */
  tryLock(object: MvRluObject): Promise<boolean> {
    return this.#turns.take(() => this.#lock(object, true))
  }

  /**
   * Lock the object so that no other section changes it until the commit, without changing it: for what you have read
   * and decide by.
   */
  tryLockConst(object: MvRluObject): Promise<boolean> {
    return this.#turns.take(() => this.#lock(object, false))
  }

  /**
   * Assign a new value to the object, which must be locked. Others see it after the commit. @throws HeapFullError; the
   * section can only be aborted then.
   */
  async assign(object: MvRluObject, value: V): Promise<void> {
    this.#checkActive()
    const bytes = this.#encode(value)
    await this.#turns.take(async () => {
      const place = await this.#placeToWrite(object)
      await this.#attempt(() => this.#writes.assign(place, bytes))
    })
  }

  /**
   * Make an object. Others can find it only through the value of an object that they know. @throws HeapFullError as
   * {@link assign}.
   */
  async allocate(value: V): Promise<MvRluObject> {
    this.#checkActive()
    const bytes = this.#encode(value)
    return await this.#turns.take(async () => {
      this.#checkActive()
      const object = await this.#attempt(async () => {
        this.#checkRoom()
        return await this.#writes.make(bytes)
      })
      if (object !== undefined) return object
      const why = `'${this.#settings.name}' has the maximum of objects, in ${TABLES_MAX} tables; free some`
      throw new StructureError('ERR_AETHER_STRUCTURES_FULL', this.#settings.name, why)
    })
  }

  /**
   * Free the object, which is locked: from the commit on it is gone. Assign all objects that refer to it again in the
   * same section.
   */
  async free(object: MvRluObject): Promise<void> {
    await this.#turns.take(async () => {
      const place = await this.#placeToWrite(object)
      if (object === ROOT_SLOT) throw this.#misuse('the root cannot be freed')
      await this.#attempt(() => this.#writes.free(place))
    })
  }

  /**
   * Commit what was assigned, made and freed, if anything, and end the section. Idempotent; not after {@link abort}. If
   * the home is lost meanwhile, it is unknown whether the commit was done. @throws HomeLostError, HeapFullError
   */
  async readUnlock(): Promise<void> {
    await this.#turns.take(async () => {
      if (this.#state === 'committed') return
      this.#checkActive()
      if (this.#failed) throw this.#misuse('an operation of the section was refused; abort the section')
      if (!this.#writes.changed) await this.#end('committed', true)
      else await this.#commit()
    })
  }

  /** End the section as if it had not been. Idempotent, also after a commit. A round trip if it has locked anything. */
  async abort(): Promise<void> {
    await this.#turns.take(async () => {
      if (this.#state === 'active') await this.#end('aborted', true)
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.abort()
  }

  async #commit(): Promise<void> {
    const clock = await this.#attempt(() => this.#writes.commit())
    if (clock === undefined) {
      await this.#end('aborted', false)
      throw this.#misuse(
        'the group has given this rank up, and other ranks have taken over its locks; nothing was changed',
      )
    }
    await this.#end('committed', false)
    await this.#core.committed()
  }

  async #end(state: 'committed' | 'aborted', undo: boolean): Promise<void> {
    this.#state = state
    this.#core.memory.holds.delete(this.#release)
    this.#core.readers.sections.end(this.#section)
    if (undo) await this.#writes.undo()
  }

  /** The newest version that is not newer than the section. */
  async #visible(object: MvRluObject, place: number): Promise<Version | undefined> {
    const { memory, versions } = this.#core
    const head = await memory.load64(place + SlotOffset.Head)
    let version = await versions.newest(place, head)
    while (version !== undefined && version.clock > this.clock) {
      const older: Version | undefined = version.older === 0n ? undefined : await versions.read(version.older)
      assert.ok((older?.clock ?? 0) < version.clock, 'clocks fall from version to version')
      version = older
    }
    // If the slot was reused after an object was freed, its object is another one.
    return version?.object === object ? version : undefined
  }

  async #lock(object: MvRluObject, write: boolean): Promise<boolean> {
    const place = await this.#placeOf(object)
    const known = this.#writes.relock(place, write)
    if (known !== undefined) return known
    this.#checkRoom()
    return await this.#writes.lock(object, place, write)
  }

  async #placeToWrite(object: MvRluObject): Promise<number> {
    const place = await this.#placeOf(object)
    if (this.#writes.mayWrite(place)) return place
    throw this.#misuse('the object is not locked by this section; check that tryLock() returned true')
  }

  async #placeOf(object: MvRluObject): Promise<number> {
    this.#checkActive()
    return await this.#core.slots.placeOf(object)
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      this.#failed = true
      if (error instanceof HeapFullError) this.#core.wantMemory()
      throw error
    }
  }

  #checkRoom(): void {
    const { objectsMax, name } = this.#settings
    if (this.#writes.size < objectsMax) return
    const why = `a section may lock or make at most ${objectsMax} objects (options.objectsMax)`
    throw new StructureError('ERR_AETHER_READ_SECTION', name, `'${name}': ${why}`)
  }

  /** A copy: the codec may use its bytes again, and they are written later. */
  #encode(value: V): Uint8Array {
    return new Uint8Array(encodeValue(this.#settings, this.#settings.name, value))
  }

  #decode(bytes: Uint8Array): V {
    return decodeOwn(this.#settings.codec, bytes.slice())
  }

  #checkActive(): void {
    if (this.#core.readers.sections.closed) throw new ClosedError('the structures of the group')
    if (this.#state !== 'active') throw this.#misuse('the section has ended; begin another one with readLock()')
  }

  #misuse(why: string): StructureError {
    return new StructureError('ERR_AETHER_READ_SECTION', this.#settings.name, `'${this.#settings.name}': ${why}`)
  }
}

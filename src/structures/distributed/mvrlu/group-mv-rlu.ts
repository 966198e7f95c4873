import { ClosedError } from '../../../native/index.ts'
import { HeapFullError } from '../../errors.ts'
import { checkSection, MEMORY_ATTEMPTS, OBJECTS_DEFAULT, pauseMs, type SectionOptions } from '../../mvrlu/attempts.ts'
import { checkUpdate, type UpdateOptions } from '../../mvrlu/mv-rlu.ts'
import type { MvRluObject } from '../../mvrlu/section.ts'
import type { ValueSettings } from '../../values/value-settings.ts'
import type { MvRluCore } from './core.ts'
import { ROOT_SLOT } from './layout.ts'
import { GroupMvRluSection } from './section.ts'

/**
 * Objects that refer to each other, read without waiting and changed several at a time, by the ranks of a group. As
 * {@link MvRlu} on one machine, but every call returns a promise. A section sees all objects as they were when it began
 * (snapshot isolation), whatever is committed meanwhile.
 *
 * ```ts
 * const accounts = await shared.mvRlu<Account>('accounts')
 * await accounts.update(async (section) => {
 *   if (!(await section.tryLock(ada)) || !(await section.tryLock(eve))) return await section.abort()
 *   await section.assign(ada, less(await section.dereference(ada)))
 *   await section.assign(eve, more(await section.dereference(eve)))
 * })
 * ```
 *
 * How it works, and why it is right, is in layout.ts. Made by {@link GroupStructures.mvRlu}.
 */
export class GroupMvRlu<V> {
  readonly name: string
  /** The object that is there from the start, without a value. */
  readonly root: MvRluObject = ROOT_SLOT
  readonly #core: MvRluCore
  readonly #settings: ValueSettings<V>

  /** @internal */
  constructor(name: string, core: MvRluCore, settings: ValueSettings<V>) {
    this.name = name
    this.#core = core
    this.#settings = settings
  }

  /**
   * Begin a section. Sections may overlap and last as long as you like. A round trip, and one more if another rank has
   * committed since. @throws HomeLostError
   */
  async readLock(options?: SectionOptions): Promise<GroupMvRluSection<V>> {
    checkSection(options)
    return await this.#begin(options?.objectsMax)
  }

  async #begin(objectsMax: number = OBJECTS_DEFAULT): Promise<GroupMvRluSection<V>> {
    this.#checkOpen()
    await this.#core.relieve()
    this.#checkOpen()
    const { sections } = this.#core.readers
    // Before the clock is read: a rank that cuts off versions waits for it, or has begun before and leaves what was the
    // newest then.
    const section = sections.begin()
    try {
      const snapshot = await this.#core.clock.now()
      return new GroupMvRluSection(this.#core, { ...this.#settings, name: this.name, objectsMax }, section, snapshot)
    } catch (error) {
      sections.end(section)
      throw error
    }
  }

  /**
   * Run `work` in a section and commit. Resolves with the result of `work`. If `work` calls `abort`, as after a lock
   * that it did not get, run it again.
   */
  async update<T>(work: (section: GroupMvRluSection<V>) => T | Promise<T>, options: UpdateOptions = {}): Promise<T> {
    checkUpdate(work, options)
    const { group } = this.#core.memory
    for (let attempt = 0; ; attempt += 1) {
      options.signal?.throwIfAborted()
      const done = await this.#attempt(work, options.objectsMax, attempt)
      if (done !== undefined) return done.value
      await group.sleep(pauseMs(attempt, group.random()))
    }
  }

  /**
   * Free versions that were replaced, by any rank, and that no section can need any more. It runs by itself after every
   * 32 commits, and when memory is short. Waits for no reader.
   */
  async collect(): Promise<void> {
    this.#checkOpen()
    await this.#core.collectAll()
  }

  /**
   * Undefined if it has to be tried again: it was aborted, or found no memory, and the next section first looks for
   * some.
   */
  async #attempt<T>(
    work: (section: GroupMvRluSection<V>) => T | Promise<T>,
    objectsMax: number | undefined,
    attempt: number,
  ): Promise<{ readonly value: T } | undefined> {
    const section = await this.#begin(objectsMax)
    try {
      const value = await work(section)
      if (section.aborted) return undefined
      await section.readUnlock()
      return { value }
    } catch (error) {
      if (error instanceof HeapFullError && attempt < MEMORY_ATTEMPTS) return undefined
      throw error
    } finally {
      await section.abort()
    }
  }

  #checkOpen(): void {
    if (this.#core.readers.sections.closed) throw new ClosedError('the structures of the group')
  }
}

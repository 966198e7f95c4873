import { setTimeout as sleep } from 'node:timers/promises'
import type { Codec } from '../../codecs/index.ts'
import { checkFunction, checkOptions, checkSignal, native, type OptionNames, TimeoutError } from '../../native/index.ts'
import { HeapFullError } from '../errors.ts'
import type { Heap } from '../heap/heap.ts'
import { GRANULE_BYTES, HEAP_MAGIC, HeaderOffset } from '../heap/layout.ts'
import type { ValueSettings } from '../values/value-settings.ts'
import { type BlockOptions, checkTimeout, type WaitOptions } from '../waiting/wait-options.ts'
import {
  checkObjects,
  checkSection,
  MEMORY_ATTEMPTS,
  OBJECTS_DEFAULT,
  pauseMs,
  type SectionOptions,
} from './attempts.ts'
import type { CommitLog } from './commit-log.ts'
import { OBJECT_BYTES } from './layout.ts'
import { type MvRluObject, MvRluSection, OtherSectionError, otherSection, type SectionSettings } from './section.ts'

/** Bytes of the body: the root's words. */
export const ROOT_BODY_BYTES: number = OBJECT_BYTES

/** Options of `mvRlu()`. */
export interface MvRluOptions<V> {
  /** How values become bytes. Default `structured`. All openers must agree. */
  readonly codec?: Codec<V>
  /** The longest value that this process assigns, in bytes when encoded. Default 1 MiB. */
  readonly valueBytesMax?: number
}

export const mvRluNames: OptionNames<MvRluOptions<unknown>> = { codec: true, valueBytesMax: true }

/** Options of a section that is tried again until it is committed. */
export type UpdateOptions = SectionOptions & WaitOptions
type UpdateSyncOptions = SectionOptions & BlockOptions

const updateNames: OptionNames<UpdateOptions> = { objectsMax: true, signal: true }
const updateSyncNames: OptionNames<UpdateSyncOptions> = { objectsMax: true, timeoutMs: true }

/** @throws ArgumentError; the reason of the signal if it is aborted. */
export function checkUpdate(work: unknown, options: UpdateOptions): void {
  checkFunction('work', work, 'which takes the section')
  checkOptions('update', options, updateNames)
  checkObjects(options.objectsMax)
  checkSignal('options.signal', options.signal)
}

/**
 * Objects that refer to each other, read without waiting and changed several at a time: multi-version read-log-update.
 * A section sees all objects as they were when it began (snapshot isolation), whatever is committed meanwhile.
 *
 * ```ts
 * const accounts = await shared.mvRlu<Account>('accounts')
 * accounts.updateSync((section) => {
 *   if (!section.tryLock(ada) || !section.tryLock(eve)) return section.abort()
 *   section.assign(ada, less(section.dereference(ada)))
 *   section.assign(eve, more(section.dereference(eve)))
 * })
 * ```
 *
 * Two sections that read the same objects and change different ones can both commit, though neither could after the
 * other ("write skew"). If that matters, `tryLockConst` what was read. How it works, and why it is right, is in
 * ./layout.ts. Made by {@link Structures.mvRlu}.
 */
export class MvRlu<V> {
  readonly name: string
  /** The object that is there from the start, without a value. */
  readonly root: MvRluObject
  readonly #heap: Heap
  readonly #log: CommitLog
  readonly #settings: Omit<SectionSettings<V>, 'objectsMax'>

  /** @internal */
  constructor(name: string, heap: Heap, offset: number, log: CommitLog, settings: ValueSettings<V>) {
    this.name = name
    this.root = offset / GRANULE_BYTES
    this.#heap = heap
    this.#log = log
    this.#settings = { ...settings, name, root: this.root, meter: heap.meters.of('mv-rlu', name) }
  }

  /**
   * Begin a section. Sections may overlap and last across an `await`. Only one section of a thread at a time can have
   * objects locked.
   */
  readLock(options?: SectionOptions): MvRluSection<V> {
    checkSection(options)
    return this.#begin(options?.objectsMax)
  }

  /**
   * Run `work` in a section and commit. Resolves with the result of `work`. If `work` calls `abort`, as after a lock
   * that it did not get, run it again. Also run it again if it has to wait for another section of this thread.
   */
  async update<T>(work: (section: MvRluSection<V>) => T | Promise<T>, options: UpdateOptions = {}): Promise<T> {
    checkUpdate(work, options)
    for (let attempt = 0, shortages = 0; ; attempt += 1) {
      options.signal?.throwIfAborted()
      using section = this.#begin(options.objectsMax)
      try {
        const given = work(section)
        // What promises nothing is done at once.
        const value = given instanceof Promise ? await given : given
        if (!section.aborted) {
          section.readUnlock()
          return value
        }
      } catch (error) {
        if (!(error instanceof OtherSectionError)) {
          if (!isToTryAgain(error, shortages)) throw error
          shortages += 1
        }
        section.abort()
      }
      await sleep(pauseMs(attempt, Math.random()))
    }
  }

  /**
   * The same, on this thread. @throws TimeoutError if every attempt until then was aborted: nothing was changed.
   * @throws StructureError if another section of this thread has objects locked, which could not end meanwhile.
   */
  updateSync<T>(work: (section: MvRluSection<V>) => T, options: UpdateSyncOptions = {}): T {
    checkFunction('work', work, 'which takes the section')
    checkOptions('updateSync', options, updateSyncNames)
    checkObjects(options.objectsMax)
    checkTimeout(options.timeoutMs)
    const { timeoutMs = Number.POSITIVE_INFINITY } = options
    const deadlineNs = native.monotonicNs() + timeoutMs * 1e6
    for (let attempt = 0; ; attempt += 1) {
      const done = this.#attempt(work, options.objectsMax, attempt)
      if (done !== undefined) return done.value
      const leftMs = (deadlineNs - native.monotonicNs()) / 1e6
      if (leftMs <= 0)
        throw new TimeoutError(`timed out after ${timeoutMs} ms waiting for the objects of '${this.name}'`)
      // Nothing wakes this.
      if (attempt > 1)
        this.#heap.memory.wait(HeaderOffset.Magic, HEAP_MAGIC, Math.min(leftMs, pauseMs(attempt, Math.random())))
    }
  }

  #begin(objectsMax: number = OBJECTS_DEFAULT, onHeldUp?: () => void): MvRluSection<V> {
    this.#heap.checkOpen()
    const settings = { ...this.#settings, objectsMax, ...(onHeldUp && { onHeldUp }) }
    return new MvRluSection(this.#heap, this.#log, settings)
  }

  /**
   * Undefined if it has to be tried again: it was aborted, or found no memory, and the next section first looks for
   * some.
   */
  #attempt<T>(
    work: (section: MvRluSection<V>) => T,
    objectsMax: number | undefined,
    attempt: number,
  ): { readonly value: T } | undefined {
    let isHeldUp = false
    using section = this.#begin(objectsMax, () => {
      isHeldUp = true
    })
    try {
      const value = work(section)
      if (section.aborted && isHeldUp) throw otherSection(this.name)
      if (section.aborted) return undefined
      section.readUnlock()
      return { value }
    } catch (error) {
      if (isToTryAgain(error, attempt)) return undefined
      throw error
    }
  }
}

/** It found no memory, and the next section first looks for some. */
function isToTryAgain(error: unknown, attempt: number): boolean {
  return error instanceof HeapFullError && attempt < MEMORY_ATTEMPTS
}

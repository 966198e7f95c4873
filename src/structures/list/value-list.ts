import type { Codec } from '../../codecs/index.ts'
import { checkAbort, type OptionNames } from '../../native/index.ts'
import type { Meter } from '../figures/meter.ts'
import type { Heap } from '../heap/heap.ts'
import { type ValueCopy, ValueReader } from '../values/value-reader.ts'
import { encodeValue, type ValueSettings } from '../values/value-settings.ts'
import { BELL_BYTES, Bell } from '../waiting/bell.ts'
import { type BlockOptions, checkBlock, type WaitOptions } from '../waiting/wait-options.ts'

/** Bytes of a queue's or stack's body: two bells, then its words. */
export const LIST_BODY_BYTES: number = 2 * BELL_BYTES + 64
/** Where the words are. */
export const LIST_WORDS_OFFSET: number = 2 * BELL_BYTES

/** Options of `queue()` and `stack()`. */
export interface ListOptions<V> {
  /** How values become bytes. Default `structured`. All openers must agree. */
  readonly codec?: Codec<V>
  /**
   * The most values that it holds; a push beyond that waits. `Infinity`: as many as there is memory for, which is the
   * default of a new one. The latest opener that passes it sets it for all.
   */
  readonly capacity?: number
  /** The longest value that this process pushes, in bytes when encoded. Default 1 MiB. */
  readonly valueBytesMax?: number
}

export const listNames: OptionNames<ListOptions<unknown>> = { codec: true, capacity: true, valueBytesMax: true }

/** The lock-free part of a queue or a stack. */
export interface ListCore {
  push(value: Uint8Array): boolean
  pop(into: ValueCopy): boolean
  length(): number
}

/** The bounds of a list as they are now. */
export interface ListBounds {
  /** 0: no bound. */
  readonly capacity: number
}

/** What a list was opened with. */
export interface ListSettings<V> extends ValueSettings<V> {
  readonly meter: Meter
}

/** What queue and stack have in common: values, and waiting for them and for room. */
export abstract class ValueList<V> {
  readonly name: string
  readonly #heap: Heap
  readonly #meter: Meter
  readonly #core: ListCore
  readonly #settings: ListSettings<V>
  readonly #reader: ValueReader<V>
  readonly #filled: Bell
  readonly #emptied: Bell

  /** @internal */
  constructor(name: string, heap: Heap, body: number, core: ListCore, settings: ListSettings<V>) {
    const { meter } = settings
    this.name = name
    this.#heap = heap
    this.#meter = meter
    this.#core = core
    this.#settings = settings
    this.#reader = new ValueReader(heap.memory, settings.codec)
    this.#filled = new Bell(heap, body, { meter })
    this.#emptied = new Bell(heap, body + BELL_BYTES, { meter })
  }

  /** Resolves when the value is there: at once, or when there is room. @throws HeapFullError */
  async push(value: V, options?: WaitOptions): Promise<void> {
    checkAbort('push', options)
    this.#meter.wrote()
    await this.#emptied.wait(() => this.#push(value) || undefined, options)
  }

  /** The same, blocking this thread while it is full. @throws TimeoutError, HeapFullError */
  pushSync(value: V, options?: BlockOptions): void {
    checkBlock('pushSync', options)
    this.#meter.wrote()
    this.#emptied.waitSync(() => this.#push(value) || undefined, `room in '${this.name}'`, options)
  }

  /** Push if there is room; false if it is full. */
  async tryPush(value: V, options?: WaitOptions): Promise<boolean> {
    checkAbort('tryPush', options)
    return this.tryPushSync(value)
  }

  tryPushSync(value: V): boolean {
    this.#meter.wrote()
    return this.#push(value)
  }

  /** Resolves with a value when there is one. If a process is killed after it took a value, that value is lost. */
  async pop(options?: WaitOptions): Promise<V> {
    checkAbort('pop', options)
    this.#meter.wrote()
    const taken = await this.#filled.wait(() => this.#take(), options)
    return taken.value
  }

  /** The same, blocking this thread while it is empty. @throws TimeoutError */
  popSync(options?: BlockOptions): V {
    checkBlock('popSync', options)
    this.#meter.wrote()
    return this.#filled.waitSync(() => this.#take(), `a value in '${this.name}'`, options).value
  }

  /** Take a value; undefined if it is empty. */
  async tryPop(options?: WaitOptions): Promise<V | undefined> {
    checkAbort('tryPop', options)
    return this.tryPopSync()
  }

  tryPopSync(): V | undefined {
    this.#meter.wrote()
    return this.#take()?.value
  }

  /** How many values there are. */
  async length(options?: WaitOptions): Promise<number> {
    checkAbort('length', options)
    return this.lengthSync()
  }

  lengthSync(): number {
    this.#heap.checkOpen()
    this.#meter.read()
    return this.#core.length()
  }

  #push(value: V): boolean {
    this.#heap.checkOpen()
    const pushed = this.#core.push(encodeValue(this.#settings, this.name, value))
    if (pushed) this.#filled.ring()
    return pushed
  }

  /** A value may be undefined, so it comes in something. */
  #take(): { readonly value: V } | undefined {
    this.#heap.checkOpen()
    if (!this.#core.pop(this.#reader)) return undefined
    this.#emptied.ring()
    return { value: this.#reader.decode() }
  }
}

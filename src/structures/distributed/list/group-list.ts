import type { Codec } from '../../../codecs/index.ts'
import { checkAbort } from '../../../native/index.ts'
import type { ListOptions, ValueList } from '../../list/value-list.ts'
import { encodeCopy, type ValueSettings } from '../../values/value-settings.ts'
import type { WaitOptions } from '../../waiting/wait-options.ts'
import type { Promised } from '../memory/promised.ts'
import type { GroupBell } from '../waiting/group-bell.ts'

/** Options of `queue()` and `stack()` of a group's structures: those of one machine, but a value has at most 60 KiB. */
export type GroupListOptions<V> = ListOptions<V>

/** The lock-free part of a group's queue or stack; its methods do not wait. */
export interface GroupListCore {
  /** False if there is no room. */
  push(value: Uint8Array): Promise<boolean>
  /** Undefined if it is empty. */
  pop(): Promise<Uint8Array | undefined>
  length(): Promise<number>
  /** Rung for one when a value has come. */
  readonly filled: GroupBell
  /** Rung for one when room has become free. */
  readonly emptied: GroupBell
}

/**
 * What queue and stack of a group have in common: values, and waiting for them and for room. As {@link ValueList} on
 * one machine.
 */
export abstract class GroupList<V> implements Promised<ValueList<V>> {
  readonly name: string
  readonly #core: GroupListCore
  readonly #codec: Codec<V>
  readonly #valueBytesMax: number

  /** @internal */
  constructor(name: string, core: GroupListCore, { codec, valueBytesMax }: ValueSettings<V>) {
    this.name = name
    this.#core = core
    this.#codec = codec
    this.#valueBytesMax = valueBytesMax
  }

  /**
   * Resolves when the value is there: at once, or when there is room. @throws HeapFullError if its home has no memory;
   * HomeLostError, of all methods.
   */
  async push(value: V, options?: WaitOptions): Promise<void> {
    checkAbort('push', options)
    const bytes = this.#encode(value)
    await this.#core.emptied.wait(async () => (await this.#core.push(bytes)) || undefined, options)
  }

  /** Push if there is room; false if it is full. */
  async tryPush(value: V, options?: WaitOptions): Promise<boolean> {
    checkAbort('tryPush', options)
    return await this.#core.push(this.#encode(value))
  }

  /** Resolves with a value when there is one. If a rank dies after it took a value, that value is lost. */
  async pop(options?: WaitOptions): Promise<V> {
    checkAbort('pop', options)
    return this.#codec.decode(await this.#core.filled.wait(() => this.#core.pop(), options))
  }

  /** Take a value; undefined if it is empty. */
  async tryPop(options?: WaitOptions): Promise<V | undefined> {
    checkAbort('tryPop', options)
    const bytes = await this.#core.pop()
    return bytes && this.#codec.decode(bytes)
  }

  /** How many values there are. For a queue under concurrent use, the number is not of one moment. */
  async length(options?: WaitOptions): Promise<number> {
    checkAbort('length', options)
    return await this.#core.length()
  }

  #encode(value: V): Uint8Array {
    return encodeCopy({ codec: this.#codec, valueBytesMax: this.#valueBytesMax }, this.name, value)
  }
}

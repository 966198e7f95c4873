import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BenchStore, StoreOperations } from '../structures/bench-store.ts'
import { loadStore, openKeptStore, type StorePlan } from './kept-store.ts'

const KEY_BYTES = 16
export const VALUE_BYTES = 100
/** Values that are there only so that a store is large. */
const FILLER_BYTES = 1000
const KEYS_MAX = 1_000_000
/** Operations in one transaction while a store is filled; between two the event loop has a turn. */
const BATCH = 4096

/** Keys that are measured: they and their values are at most half of what the store will hold. */
export function keysOf(sizeBytes: number): number {
  return Math.max(16, Math.min(KEYS_MAX, Math.floor(sizeBytes / 2 / (KEY_BYTES + VALUE_BYTES))))
}

/** Key number `index`, of 16 bytes. */
export function keyName(index: number): string {
  return `key:${String(index).padStart(KEY_BYTES - 4, '0')}`
}

/** A store that this process has open. */
export class MeasuredStore {
  readonly plan: StorePlan
  /** As rows call it, with the version of other software. */
  readonly title: string
  /** On values of 100 bytes. */
  readonly operations: StoreOperations
  readonly #store: BenchStore
  #isOpen = true

  private constructor(plan: StorePlan, title: string, store: BenchStore) {
    this.plan = plan
    this.title = title
    this.operations = store.operations(new Uint8Array(VALUE_BYTES).fill(2))
    this.#store = store
  }

  /** With the keys that are measured. @throws AetherError where it is not installed, or cannot be opened. */
  static async open(plan: StorePlan, sizeBytes: number): Promise<MeasuredStore> {
    const title = await loadStore(plan.store)
    const store = new MeasuredStore(plan, title, await openKeptStore(plan))
    try {
      await store.#fill(keysOf(sizeBytes), VALUE_BYTES, keyName)
      return store
    } catch (error) {
      await store.close()
      throw error
    }
  }

  /** Add values until keys and values have `sizeBytes` together. */
  async grow(sizeBytes: number): Promise<void> {
    const left = sizeBytes - keysOf(sizeBytes) * (KEY_BYTES + VALUE_BYTES)
    const nameOf = (index: number): string => `big:${String(index).padStart(KEY_BYTES - 4, '0')}`
    await this.#fill(Math.ceil(left / (KEY_BYTES + FILLER_BYTES)), FILLER_BYTES, nameOf)
  }

  /** May be called twice. */
  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    await this.#store.close()
  }

  async #fill(count: number, bytes: number, nameOf: (index: number) => string): Promise<void> {
    const { set } = this.#store.operations(new Uint8Array(bytes).fill(1))
    for (let from = 0; from < count; from += BATCH) {
      const some = (): void => {
        for (let index = from; index < Math.min(count, from + BATCH); index += 1) set(nameOf(index))
      }
      if (this.#store.batch === undefined) some()
      else this.#store.batch(some)
      await nextTurn()
    }
  }
}

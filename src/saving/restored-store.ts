import { SaveError, type Space } from '../dsm/index.ts'
import { native } from '../native/index.ts'
import {
  identifyStore,
  type MutexHold,
  openStructures,
  STORE_GUARDS_REGION,
  STORE_HEAD_BYTES,
  STORE_NAME,
  StoreHead,
  type Structures,
} from '../structures/index.ts'
import type { RegionBlock, StoreBlock } from './format.ts'
import { RawRegion } from './raw-region.ts'
import { lockStore } from './store-lock.ts'

type Block = RegionBlock & { readonly store: StoreBlock }

/**
 * A store of transactions that comes from a save. Its head, which makes it one, is written at the end, and its mutex is
 * held until then. So no process sees half of it; if this one is killed, the next one finds an empty store.
 */
export class RestoredStore implements AsyncDisposable {
  readonly #space: Space
  readonly #block: Block
  readonly #guards: Structures
  readonly #hold: MutexHold
  readonly #region: RawRegion
  readonly #head: Buffer = Buffer.alloc(STORE_HEAD_BYTES)

  private constructor(space: Space, block: Block, guards: Structures, hold: MutexHold, region: RawRegion) {
    this.#space = space
    this.#block = block
    this.#guards = guards
    this.#hold = hold
    this.#region = region
  }

  /** @throws SaveError if the space has a store; TimeoutError if another process keeps its mutex. */
  static async begin(space: Space, file: string, block: Block): Promise<RestoredStore> {
    const guards = await openStructures(space, { region: STORE_GUARDS_REGION })
    let hold: MutexHold | undefined
    let region: RawRegion | undefined
    try {
      // Its holder is in the region, which may not be there.
      hold = await lockStore(guards, () => 0, undefined)
      region = await RawRegion.open(space, block.name, block.size, block.reserved)
      if (firstWord(region).readInt32LE() !== 0) throw storeIsThere(space, file)
      return new RestoredStore(space, block, guards, hold, region)
    } catch (error) {
      hold?.release()
      await region?.[Symbol.asyncDispose]()
      await guards.close()
      throw error
    }
  }

  get entry(): RawRegion['entry'] {
    return this.#region.entry
  }

  /** The head is written at the end, so it needs none. */
  async clear(offset: number, end: number): Promise<void> {
    await this.#region.clear(Math.max(offset, STORE_HEAD_BYTES), end)
  }

  async write(offset: number, bytes: Uint8Array): Promise<void> {
    const inHead = Math.max(0, Math.min(bytes.length, STORE_HEAD_BYTES - offset))
    if (inHead > 0) this.#head.set(bytes.subarray(0, inHead), offset)
    await this.#region.write(offset + inHead, bytes.subarray(inHead))
  }

  /** All of it is there. Its clock goes on as if it had run meanwhile. */
  async end(): Promise<void> {
    const nowMs = native.monotonicNs() / 1e6 + this.#space.membership.arena.clockShiftMs
    this.#head.writeDoubleLE(Date.now() - this.#block.store.behindMs - nowMs, StoreHead.ClockShift)
    this.#head.writeInt32LE(1, StoreHead.Restored)
    this.#region.writeSync(0, this.#head)
    await this[Symbol.asyncDispose]()
  }

  /** Without {@link end}: as if it had not begun. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#hold.release()
    await this.#region[Symbol.asyncDispose]()
    await this.#guards.close()
  }
}

/** Whether the space has a store, with queues or without. */
export async function hasStore(space: Space): Promise<boolean> {
  if (!space.regions().some(({ name }) => name === STORE_NAME)) return false
  await using region = await RawRegion.open(space, STORE_NAME)
  return identifyStore(STORE_NAME, firstWord(region)) !== undefined
}

export function storeIsThere(space: Space, file: string): SaveError {
  const what = `space '${space.name}' already has queues of BullMQ, and those of a save cannot be added to them`
  return new SaveError('ERR_AETHER_SAVE_MISMATCH', file, `${what}; import into another space`)
}

function firstWord(region: RawRegion): Buffer {
  return region.readSync(StoreHead.Magic, Buffer.alloc(4))
}

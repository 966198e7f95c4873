import assert from 'node:assert/strict'
import type { Store } from '../../../../src/adapters/bullmq/store/store.ts'
import { StoreHold } from '../../../../src/adapters/bullmq/store-hold.ts'
import { checkStore } from '../../../../src/adapters/index.ts'

/** More members than a test has. */
export const LAST_EPOCH = 1000

/** Use the store of a space. */
export async function withStore<T>(space: string, act: (store: Store) => Promise<T> | T): Promise<T> {
  const hold = new StoreHold(space, undefined)
  try {
    return await act((await hold.open()).store)
  } finally {
    await hold.close()
  }
}

export function copyOf(store: Store): Uint8Array {
  return new Uint8Array(store.memory.bytes)
}

/** Also in the middle of a transaction. */
export function assertWhole(store: Store, when: string): void {
  assert.deepEqual(checkStore(copyOf(store), LAST_EPOCH).damaged, [], when)
}

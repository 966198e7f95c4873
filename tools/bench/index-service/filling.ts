import { keyName } from '../structures/measurement.ts'
import type { KeyStore } from './key-store.ts'

/** Keys that are stored together. */
const TOGETHER = 100
/** Such calls under way. */
const LANES = 4

/** Store values of this length at the first `keys` keys. */
export async function fillKeys(store: KeyStore, keys: number, bytes: number): Promise<void> {
  const value = Buffer.alloc(bytes, 1)
  await inParts(keys, (numbers) => store.setAll(numbers.map(keyName), value))
}

/** Work on all numbers below `count`, some at a time. */
export async function inParts(count: number, work: (numbers: readonly number[]) => Promise<unknown>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) {
      const first = next
      next = Math.min(count, first + TOGETHER)
      await work(Array.from({ length: next - first }, (_, each) => first + each))
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}
